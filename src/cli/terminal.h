/* A terminal as a screen that is drawn again and again, and the keys typed meanwhile.

   Signals that would end or stop the program are kept while the screen is up, looked for in every
   wait, and do what they always do once the terminal is as it was. No curses: what is drawn is
   lines of text from the top. */
#ifndef RG_CLI_TERMINAL_H
#define RG_CLI_TERMINAL_H

#include <signal.h>
#include <termios.h>

#include "base/text.h"

enum { RG_TERMINAL_SIGNALS = 5 };

typedef struct {
  bool keys;                                    /* standard input is a terminal too */
  struct termios typed;                         /* how it was */
  struct sigaction before[RG_TERMINAL_SIGNALS]; /* what they did */
  int rows, columns;
} RgTerminal;

/* Whether standard output is a terminal that can be drawn on. */
bool rg_terminal_possible(void);
/* Standard output becomes a screen, and its size is known. */
void rg_terminal_enter(RgTerminal *terminal);
/* The terminal as it was, with what stood in it. A signal that came meanwhile takes effect: this
   may not return. */
void rg_terminal_leave(RgTerminal *terminal);
/* Draw `text` from the top: as many lines as fit, cut at the right edge. */
void rg_terminal_draw(const RgTerminal *terminal, const char *text);

typedef enum {
  RG_KEY_NONE, /* the time is over, or the size is another one */
  RG_KEY_QUIT, /* also: a signal that ends the program */
  RG_KEY_UP,
  RG_KEY_DOWN,
  RG_KEY_PAGE_UP,
  RG_KEY_PAGE_DOWN,
  RG_KEY_AGAIN /* any other key */
} RgKey;
/* Wait so many seconds at most. ^Z stops the program; when it goes on the screen is up again. */
RgKey rg_terminal_wait(RgTerminal *terminal, double seconds);

#endif
