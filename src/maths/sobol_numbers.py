"""Writes sobol_numbers.inc, the direction numbers of Joe and Kuo as sobol.c reads them, from the
table new-joe-kuo-6 that SciPy brings along:    python3 sobol_numbers.py > sobol_numbers.inc"""
from pathlib import Path

import numpy as np
import scipy.stats

DIMENSIONS = 1111
LICENCE = """Copyright (c) 2008, Frances Y. Kuo and Stephen Joe
All rights reserved.

Redistribution and use in source and binary forms, with or without modification, are permitted
provided that the following conditions are met:
- Redistributions of source code must retain the above copyright notice, this list of conditions
  and the following disclaimer.
- Redistributions in binary form must reproduce the above copyright notice, this list of conditions
  and the following disclaimer in the documentation and/or other materials provided with the
  distribution.
- Neither the names of the copyright holders nor the names of the University of New South Wales and
  the University of Waikato and its contributors may be used to endorse or promote products derived
  from this software without specific prior written permission.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS ``AS IS'' AND ANY EXPRESS OR IMPLIED WARRANTIES,
INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A
PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDERS BE LIABLE FOR ANY DIRECT,
INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO,
PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS
INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY,
OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS SOFTWARE, EVEN
IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE."""


def main():
    table = np.load(Path(scipy.stats.__file__).parent / "_sobol_direction_numbers.npz")
    print(f"""/* Direction numbers of Sobol sequences in 2 to {DIMENSIONS} dimensions, one line for each from the second
   on: the primitive polynomial, all coefficients as bits, and m_1 ... m_s, s its degree.
   Made by sobol_numbers.py from new-joe-kuo-6 of S. Joe and F. Y. Kuo (2008), Constructing Sobol
   sequences with better two-dimensional projections, SIAM J. Sci. Comput. 30, 2635-2654.

{LICENCE} */""")
    for polynomial, numbers in zip(table["poly"][1:DIMENSIONS], table["vinit"][1:DIMENSIONS]):
        degree = int(polynomial).bit_length() - 1
        print(", ".join(str(n) for n in (polynomial, *numbers[:degree])) + ",")


main()
