/* The run of drive.h as a program, to be disturbed from outside: fault_driver RESULTS.h5 LEDGER
   N_SEEDS IMAGE_BYTES. */
#include <stdio.h>
#include <stdlib.h>

#include "drive.h"

int main(int argc, char **argv)
{
  if (argc != 5) {
    fprintf(stderr, "usage: %s RESULTS.h5 LEDGER N_SEEDS IMAGE_BYTES\n", argv[0]);
    return 2;
  }
  const Drive settings = {.output = argv[1],
                          .ledger = argv[2],
                          .n_seeds = atoi(argv[3]),
                          .image_bytes = (size_t)atoll(argv[4])};
  return drive(&settings);
}
