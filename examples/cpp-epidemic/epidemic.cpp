// Chain-binomial epidemics, day by day: S -> (E ->) I -> R. Each person still susceptible is infected with
// probability 1 - exp(-beta I / population); E and I last a geometric number of days.
#include <occam/simulator.h>

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double population = p["population"];
  const double beta = p["contacts"] / p["infectious_days"];
  const double recovery = 1 - std::exp(-1 / p["infectious_days"]);
  const bool latent = p.is("seir");
  const double onset = latent ? 1 - std::exp(-1 / p["latent_days"]) : 1;

  long infectious = static_cast<long>(p["first"]);
  long susceptible = static_cast<long>(population) - infectious;
  long exposed = 0;
  for (long day = 0; day < out.n(); ++day) {
    const long infected = rng.binomial(susceptible, 1 - std::exp(-beta * infectious / population));
    const long fallen_ill = latent ? rng.binomial(exposed, onset) : infected;
    const long recovered = rng.binomial(infectious, recovery);
    susceptible -= infected;
    if (latent) exposed += infected - fallen_ill;
    infectious += fallen_ill - recovered;
    out(day, 0) = rng.binomial(fallen_ill, p["reported"]);
  }
  return true;
}
