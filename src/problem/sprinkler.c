/* sprinkler: the garden sprinkler, a rotating head with two nozzles.

   Inputs: vertical and tangential nozzle angle (degrees), nozzle area (m^2), head diameter (m),
   dynamic friction moment (N m), static friction moment (N m s), entrance pressure (bar), diameter
   of the feed line (mm). Outputs: flight distance of the droplets (m), rotation rate (1/s), or
   consumption (l/min, minimised). The fixed point of the rotation, then explicit Euler for a
   droplet with Stokes-like drag; piecewise smooth with jumps of some percent, which the optima of
   distance and rate sit at.
   Source: Siebertz, van Bebber, Hochkirchen 2010, Statistische Versuchsplanung; equations, early
   exits and optima: boke 4.4. */
#include "problem/box_problem.h"

#include <math.h>

#define RHO 1000.0 /* density of water, kg/m^3 */
#define AIR 1.25   /* density of air, kg/m^3 */
#define MU 1.82e-5 /* viscosity of air, Pa s */
#define G 10.0
#define STEP 0.005 /* s */
#define START 1e-3 /* height of the nozzle, m */

enum { RANGE, SPEED, CONSUMPTION };

static const char *const outputs[] = {"range", "speed", "consumption", NULL};

static const RgParam params[] = {
  RG_BOX_VARIANT(
    "output", "range", outputs,
    "range: flight distance, m; speed: revolutions per second; consumption: litres per "
    "minute, minimised"),
  RG_BOX_EMBED,
  {0},
};

/* The inputs, and the quantities that do not change while the head finds its rotation. */
typedef struct {
  double area, radius, dynamic, still; /* nozzle, head/2, moments of friction */
  double p, p_bar, resistance; /* Pa, bar; pressure loss of the feed line is resistance Q^2 */
  /* Product of the cosines of both angles; cosine and sine of the vertical one. */
  double c, ca, sa;
} Sprinkler;

/* The rotating head. */
typedef struct {
  double v, u; /* speed of the water relative to nozzle and ground */
  double n;    /* revolutions per second at the start of the last pass */
} Head;

static Sprinkler sprinkler_of(const double *x)
{
  const double degree = M_PI / 180, D = x[7];

  return (Sprinkler){
    .area = x[2],
    .radius = 0.5 * x[3],
    .dynamic = x[4],
    .still = x[5],
    .p = 1e5 * x[6],
    .resistance = pow(10, 5.0704 - 0.579413 * D + 0.0196432 * D * D) * 60000.0 * 60000.0,
    .ca = cos(x[0] * degree),
    .sa = sin(x[0] * degree),
    .c = cos(x[0] * degree) * cos(x[1] * degree),
  };
}

/* State of the iteration. */
typedef struct {
  double residual, moment, omega; /* torque that remains, torque, rad/s */
  double friction_loss, line_loss;
} Pass;

/* One pass of the fixed-point iteration; false means: leave the loop. */
static bool pass(const Sprinkler *s, Pass *it, Head *head)
{
  head->n = it->omega / (2 * M_PI);
  double friction = s->dynamic + head->n * s->still, tip = it->omega * s->radius;
  double pressure = s->p - it->friction_loss - it->line_loss;
  if (pressure < 0.01 * s->p) {
    head->v = 0;
    return false;
  }
  head->v = sqrt(2 * pressure / RHO);
  if (head->v * head->v * tip * tip * s->c * s->c - 1 < 0) return false;
  head->u = tip * s->c + sqrt(head->v * head->v + tip * tip * (s->c * s->c - 1));
  it->moment = 2 * RHO * head->u * s->area * s->radius * (head->u * s->c - tip);
  it->residual = it->moment - friction;
  double q = fmin(fabs(it->residual / it->moment), 0.5 * pressure / s->p);
  double sign = (it->residual > 0) - (it->residual < 0);
  it->omega *= pow(1 + 0.1 * q, sign);
  double flow = 2 * head->u * s->area;
  it->friction_loss = fabs(friction * it->omega) / flow;
  it->line_loss = s->resistance * flow * flow;
  return true;
}

/* The first tested residual is the start torque, and u keeps its value on the early exits. The
   well-known implementation of the benchmark does so. */
static Head find_rotation(const Sprinkler *s)
{
  const double start = 4 * RHO * s->area * s->radius * G * (1e-4 * s->p) * s->c;
  const double omega = 2 * M_PI * 0.1 * fabs(start - s->dynamic) / (s->still + 5e-4);
  const double flow = sqrt(s->p / (s->resistance + RHO / (8 * s->area * s->area)));
  Head head = {.v = flow / (2 * s->area), .u = flow / (2 * s->area)};
  Pass it = {.residual = start,
             .moment = RHO * flow * s->radius * (head.v * s->c),
             .omega = omega,
             .friction_loss =
               fabs((s->dynamic + omega * s->still) * omega) / (s->area * sqrt(2 * s->p / RHO)),
             .line_loss = 0.1 * s->p};

  if (!(it.moment > s->dynamic)) return head; /* at rest */
  for (int i = 1; fabs(it.residual) > 0.005 * fabs(it.moment); i++) {
    if (!pass(s, &it, &head) || i > 10000) break;
    if (it.omega < 0.0062) {
      head.n = 0;
      break;
    }
  }
  return head;
}

/* The distance at which a droplet with start speed v lands. */
static double flight(const Sprinkler *s, double v)
{
  const double diameter = sqrt(4 * s->area / M_PI), mass = M_PI / 6 * pow(diameter, 3) * RHO;
  double x = 0, y = START, vx = v * s->ca, vy = v * s->sa, speed = v, ct = s->ca, st = s->sa;

  while (y > 0 && speed >= 0.01) {
    double reynolds = speed * diameter / (MU / AIR);
    double root = 1 + 0.11 * sqrt(reynolds), drag = 24 / reynolds * root * root;
    double a = 0.5 * AIR * speed * speed * (M_PI / 4) * diameter * diameter * drag / mass;
    x += vx * STEP;
    y += vy * STEP;
    vx -= a * ct * STEP;
    vy -= G * STEP + a * st * STEP;
    speed = hypot(vx, vy);
    ct = vx / speed;
    st = vy / speed;
  }
  return x;
}

static double sprinkler(const void *options, int dim, const double *x, double *gradient)
{
  const Sprinkler s = sprinkler_of(x);
  const Head head = find_rotation(&s);

  switch (((const RgBoxOptions *)options)->variant) {
  case RANGE: return flight(&s, head.v);
  case SPEED: return head.n;
  default: return 2 * head.u * s.area * 60000;
  }
}

#define BOX .formula = sprinkler, .dim = 8, .bounds = bounds

static const double bounds[] = {0,  0,  2e-6, 0.1, 0.01, 0.01, 1, 5,
                                90, 90, 4e-6, 0.2, 0.02, 0.02, 2, 10};

/* The best known values, found by differential evolution and scans. */
static const RgBoxFunction functions[] = {
  [RANGE] = {BOX, .best = 8.3357608433964021,
             .best_at = (const double[]){32.069368096892838, 90, 4e-6, 0.2, 0.02, 0.02, 2, 10}},
  [SPEED] = {BOX, .best = 19.830719190967002,
             .best_at = (const double[]){0, 0, 4e-6, 0.2, 0.01, 0.01, 2, 9.6868326335383284}},
  [CONSUMPTION] = {BOX, .minimised = true, .best = 3.3072873475164588,
                   .best_at = (const double[]){45, 90, 2e-6, 0.1, 0.02, 0.02, 1, 5}},
};

const RgProblemClass rg_problem_sprinkler = {
  RG_ABOUT("sprinkler", "Garden sprinkler", 1,
           "flight distance of the droplets of a rotating garden sprinkler (or its rotation rate,\n"
           "or its consumption) of 8 inputs",
           "Siebertz, van Bebber, Hochkirchen 2010, Statistische Versuchsplanung"),
  RG_OPTIONS(RgBoxOptions, params),
  .family = functions,
  .domain = rg_box_domain,
  .create = rg_box_create,
  .evaluate = rg_box_evaluate,
};
