/* All public headers, for programs; a plug-in includes regatta/plugin.h instead. */
#ifndef RG_REGATTA_REGATTA_H
#define RG_REGATTA_REGATTA_H

#include "regatta/acquire.h"
#include "regatta/algorithm.h"
#include "regatta/domain.h"
#include "regatta/error.h"
#include "regatta/kernel.h"
#include "regatta/measure.h"
#include "regatta/model.h"
#include "regatta/params.h"
#include "regatta/problem.h"
#include "regatta/results.h"
#include "regatta/run.h"
#include "regatta/stream.h"
#include "regatta/study.h"
#include "regatta/theory.h"

#endif
