#include "loup/kernels/special_functions.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tests/support/ulp.h"

namespace loup::kernels {
namespace {

using test::ulp_error;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// The numbers below were computed with 40 digits.

TEST(Digamma, EqualsKnownNumbers) {
  constexpr struct {
    double x;
    long double wanted;
  } cases[] = {
      {1, -0.5772156649015328606065121L},   {2, 0.4227843350984671393934879L},
      {0.25, -4.22745353337626540808953L},  {1.5, 0.03648997397857652055902367L},
      {10, 2.251752589066721107647456L},    {-0.5, 0.03648997397857652055902367L},
      {-3.25, 4.46627587235027996712525L},  {1e-3, -1000.575571931810300471473L},
      {1e6, 13.81551005796419077077462L},   {1.4375, -0.02361354400529789914172989L},
      {123.5, 4.812187109433143072571263L},
  };
  for (const auto& [x, wanted] : cases) EXPECT_LE(ulp_error(digamma(x), wanted), 4) << "for " << x;
}

TEST(Digamma, HasPolesAtWholeNumbersFromZeroDown) {
  EXPECT_EQ(digamma(0.0), -inf);
  EXPECT_EQ(digamma(-0.0), inf);
  EXPECT_TRUE(std::isnan(digamma(-3)));
  EXPECT_TRUE(std::isnan(digamma(-1e17)));
  EXPECT_TRUE(std::isnan(digamma(-inf)));
  EXPECT_TRUE(std::isnan(digamma(nan)));
  EXPECT_EQ(digamma(inf), inf);
}

TEST(Polygamma, EqualsKnownNumbers) {
  constexpr struct {
    double n, x;
    long double wanted;
  } cases[] = {
      {1, 1, 1.644934066848226436472415L},
      {1, 0.25, 17.19732915450711073927132L},
      {1, 2.5, 0.4903577561002348649728011L},
      {1, 40, 0.0253151038412910281575971L},
      {1, -0.75, 18.9751069322848885170491L},
      {1, -10.25, 19.64625242462265279502181L},
      {1, 1000.5, 0.0009999999166666958333102679L},
      {2, 1, -2.404113806319188570799476L},
      {2, 0.25, -129.327739937536920333338L},
      {2, 2.5, -0.2362040516417274030037417L},
      {2, 40, -0.000640820271835298587756371L},
      {2, -0.75, -124.5869991967961795925972L},
      {2, -10.25, 124.0164720214871049165095L},
      {2, 1000.5, -0.0000009999997500001458331718753L},
      {3, 1, 6.493939402266829149096022L},
      {3, 0.25, 1538.782144009188396022791L},
      {3, 2.5, 0.2239058488172520512551475L},
      {3, 40, 0.00003244140015156350032188075L},
      {3, -0.75, 1557.745106972151358985754L},
      {3, -10.25, 1558.54385353640589872934L},
      {3, 1000.5, 1.999999000000874998708336e-9L},
      {5, 1, 122.0811674381338967657422L},
      {5, 0.25, 491552.513767681292045864L},
      {5, 2.5, 0.5785691785671834845539031L},
      {5, 40, 0.0000002493894350999670225412295L},
      {5, -0.75, 492226.7524508088640623249L},
      {5, -10.25, 492231.2669451650170325806L},
      {5, 1000.5, 2.399997000004899988375039e-14L},
      {20, 1, -2432903168507861321.737257L},
      {20, 0.25, -1.070001618891920927221159e+31L},
      {20, 2.5, -10709198259.12413245925629L},
      {20, 40, -1.407019775235584807150728e-15L},
      {20, -0.75, -1.070001618789629771451673e+31L},
      {20, -10.25, 1.070001618789629769535837e+31L},
      {20, 1000.5, -1.216429716509917299948738e-43L},
  };
  for (const auto& [n, x, wanted] : cases) {
    EXPECT_LE(ulp_error(polygamma(n, x), wanted), 20) << "for " << n << " and " << x;
  }
}

TEST(Polygamma, OfOrderZeroIsDigamma) { EXPECT_EQ(polygamma(0, 2.5), digamma(2.5)); }

TEST(Polygamma, HasPolesAtWholeNumbersFromZeroDown) {
  EXPECT_EQ(polygamma(1, 0), inf);
  EXPECT_EQ(polygamma(1, -3), inf);
  EXPECT_EQ(polygamma(2, -3), -inf);
  EXPECT_EQ(polygamma(1, inf), 0);
  EXPECT_TRUE(std::isnan(polygamma(1, -inf)));
  EXPECT_TRUE(std::isnan(polygamma(3, nan)));
}

TEST(Polygamma, TakesNoLongerFarBelowZero) {
  // Counted term by term this would take minutes.
  EXPECT_NEAR(polygamma(1, -1e12 - 0.5), 9.869604401, 1e-8);
}

TEST(Bessel, EqualsKnownNumbers) {
  constexpr struct {
    double x;
    long double i0, i1;
  } cases[] = {
      {0, 1.0L, 0.0L},
      {0.5, 1.063483370741323519263184L, 0.2578943053908963163624797L},
      {1, 1.266065877752008335598245L, 0.565159103992485027207696L},
      {4, 11.30192195213633049635627L, 9.759465153704449909475193L},
      {14.9375, 319749.8583379150961751872L, 308854.3464291269079120118L},
      {15.0625, 360790.5757433407199520502L, 348600.5496929101906899571L},
      {30, 781672297823.9774897173898L, 768532038938.9569994942947L},
      {100, 1.073751707131073823519721e+42L, 1.068369390338162481206146e+42L},
      {700, 1.529593347671873736316207e+302L, 1.528500390233900688145043e+302L},
  };
  for (const auto& [x, i0, i1] : cases) {
    EXPECT_LE(ulp_error(bessel_i0(x), i0), 4) << "for " << x;
    EXPECT_LE(ulp_error(bessel_i1(x), i1), 4) << "for " << x;
    EXPECT_EQ(bessel_i0(-x), bessel_i0(x));
    EXPECT_EQ(bessel_i1(-x), -bessel_i1(x));
  }
}

TEST(Bessel, GrowsToInfinity) {
  EXPECT_EQ(bessel_i0(inf), inf);
  EXPECT_EQ(bessel_i0(-inf), inf);
  EXPECT_EQ(bessel_i1(-inf), -inf);
  EXPECT_TRUE(std::isfinite(bessel_i0(713)));
  EXPECT_EQ(bessel_i0(800), inf);
  EXPECT_TRUE(std::isnan(bessel_i0(nan)));
  EXPECT_TRUE(std::isnan(bessel_i1(nan)));
}

TEST(Erfinv, EqualsKnownNumbers) {
  constexpr struct {
    double x;
    long double wanted;
  } cases[] = {
      {0.0009765625, 0.000865456197967137553451212L},
      {0.25, 0.225312055012178104725014L},
      {0.5, 0.4769362762044698733814184L},
      {0.75, 0.8134198475976185416902894L},
      {0.984375, 1.70947237429951147854622L},
      {0.9998779296875, 2.716655240567082223530903L},
  };
  for (const auto& [x, wanted] : cases) {
    EXPECT_LE(ulp_error(erfinv(x), wanted), 3) << "for " << x;
    EXPECT_EQ(erfinv(-x), -erfinv(x));
  }
}

TEST(Erfinv, ReachesToTheLastNumberBeforeOne) {
  EXPECT_LE(ulp_error(erfinv(std::nextafter(1.0, 0.0)), 5.863584748755167927207663L), 3);
  EXPECT_EQ(erfinv(1), inf);
  EXPECT_EQ(erfinv(-1), -inf);
  EXPECT_TRUE(std::isnan(erfinv(1.5)));
  EXPECT_TRUE(std::isnan(erfinv(nan)));
}

TEST(LogGamma, IsInfiniteAtPoles) {
  EXPECT_EQ(log_gamma(0), inf);
  EXPECT_EQ(log_gamma(-4), inf);
  EXPECT_EQ(log_gamma(1), 0);
  EXPECT_DOUBLE_EQ(log_gamma(-0.5), std::log(2 * std::sqrt(std::acos(-1.0))));
}

}  // namespace
}  // namespace loup::kernels
