/* A terminal as a screen: other buffer, keys without echo, signals kept for the end. */
#include "cli/terminal.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"

static const double look_period = 0.1; /* seconds between two looks for signals and the size */

static const int signals[RG_TERMINAL_SIGNALS] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};

/* A signal handler can reach nothing but file-scope state; blocking is no way, for MPI has threads
   of its own that would take the signal. */
static volatile sig_atomic_t signal_seen;

static void handle_signal(int number)
{
  signal_seen = number;
}

static void catch_signals(RgTerminal *terminal)
{
  struct sigaction action = {.sa_handler = handle_signal};

  sigemptyset(&action.sa_mask);
  signal_seen = 0;
  for (int i = 0; i < RG_TERMINAL_SIGNALS; i++)
    (void)sigaction(signals[i], &action, &terminal->before[i]);
}

/* What came meanwhile takes effect now. */
static void release_signals(const RgTerminal *terminal)
{
  const int number = signal_seen;

  for (int i = 0; i < RG_TERMINAL_SIGNALS; i++)
    (void)sigaction(signals[i], &terminal->before[i], NULL);
  if (number) (void)raise(number);
}

bool rg_terminal_possible(void)
{
  const char *kind = getenv("TERM");

  return isatty(STDOUT_FILENO) && kind && kind[0] && strcmp(kind, "dumb") != 0;
}

/* Learn the size; true: it is another one. */
static bool measure(RgTerminal *terminal)
{
  struct winsize size = {0};
  int rows = 24, columns = 80;

  if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col) {
    rows = size.ws_row;
    columns = size.ws_col;
  }
  const bool other = rows != terminal->rows || columns != terminal->columns;
  terminal->rows = rows;
  terminal->columns = columns;
  return other;
}

void rg_terminal_enter(RgTerminal *terminal)
{
  *terminal = (RgTerminal){0};
  catch_signals(terminal);
  terminal->keys = isatty(STDIN_FILENO) && !tcgetattr(STDIN_FILENO, &terminal->typed);
  if (terminal->keys) {
    struct termios raw = terminal->typed;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  }
  fputs("\033[?1049h\033[?25l\033[?7l", stdout); /* other buffer, no cursor, lines don't wrap */
  measure(terminal);
}

void rg_terminal_leave(RgTerminal *terminal)
{
  fputs("\033[?7h\033[?25h\033[?1049l", stdout);
  fflush(stdout);
  if (terminal->keys) (void)tcsetattr(STDIN_FILENO, TCSANOW, &terminal->typed);
  release_signals(terminal);
}

/* Bytes of the first `columns` characters of a line of UTF-8. */
static size_t cut(const char *line, size_t length, int columns)
{
  size_t at = 0;

  for (int n = 0; at < length; at++) {
    n += ((unsigned char)line[at] & 0xC0) != 0x80;
    if (n > columns) break;
  }
  return at;
}

void rg_terminal_draw(const RgTerminal *terminal, const char *text)
{
  fputs("\033[H", stdout);
  for (int row = 0; row < terminal->rows && *text; row++) {
    const size_t length = strcspn(text, "\n");
    printf("%s%.*s\033[K", row ? "\n" : "", (int)cut(text, length, terminal->columns), text);
    text += length + (text[length] == '\n');
  }
  fputs("\033[J", stdout);
  fflush(stdout);
}

/* What was typed, the last of it if it was more. */
static RgKey read_key(void)
{
  static const struct {
    const char *typed;
    RgKey key;
  } keys[] = {{"q", RG_KEY_QUIT},
              {"Q", RG_KEY_QUIT},
              {"k", RG_KEY_UP},
              {"\033[A", RG_KEY_UP},
              {"\033OA", RG_KEY_UP},
              {"j", RG_KEY_DOWN},
              {"\033[B", RG_KEY_DOWN},
              {"\033OB", RG_KEY_DOWN},
              {"\033[5~", RG_KEY_PAGE_UP},
              {"\033[6~", RG_KEY_PAGE_DOWN},
              {" ", RG_KEY_PAGE_DOWN},
              {"b", RG_KEY_PAGE_UP}};
  char typed[16] = "";

  const ssize_t n = read(STDIN_FILENO, typed, sizeof(typed) - 1);
  if (n <= 0) return RG_KEY_QUIT; /* the terminal is gone */
  for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
    if (!strcmp(typed, keys[i].typed)) return keys[i].key;
  return RG_KEY_AGAIN;
}

RgKey rg_terminal_wait(RgTerminal *terminal, double seconds)
{
  const double end = rg_wall_seconds() + seconds;
  struct pollfd keys = {.fd = terminal->keys ? STDIN_FILENO : -1, .events = POLLIN};

  for (double left = seconds; left > 0; left = end - rg_wall_seconds()) {
    const double wait = left < look_period ? left : look_period;
    const int ready = poll(&keys, 1, 1 + (int)(1000 * wait));
    if (signal_seen == SIGTSTP) {
      rg_terminal_leave(terminal); /* here the program stops */
      rg_terminal_enter(terminal);
      return RG_KEY_NONE;
    }
    if (signal_seen || (ready < 0 && errno != EINTR)) return RG_KEY_QUIT;
    if (measure(terminal)) return RG_KEY_NONE;
    if (ready > 0) return read_key();
  }
  return RG_KEY_NONE;
}
