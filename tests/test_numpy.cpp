// test_numpy.cpp -- fx::numpy against NumPy 2.4 (the expected texts are its own), gradients, errors, constant evaluation.
#include <doctest/doctest.h>
#include <fx/fx.hpp>

#include <cmath>
#include <string>
#include <vector>

namespace {

using fx::Array;
namespace np = fx::numpy;

std::string str(const Array& x) { return fx::to_string(x); }

// The first line of an Error's text, and its code and line through `last`.
fx::Error last(fx::ErrorCode::internal, "");
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const fx::Error& e) {
    last = e;
    const std::string s = e.what();
    return s.substr(4, s.find('\n') - 4);
  }
  return "no error";
}

constexpr double not_a_number = NAN, inf = INFINITY;
const Array x = np::reshape(np::arange(6, fx::f64), {2, 3}) * 1.5 - 2.0;
const Array xi = np::reshape(np::arange(6), {2, 3});
const Array c = np::reshape(np::arange(24), {2, 3, 4});

}  // namespace

TEST_CASE("creation") {
  CHECK(str(np::zeros({2, 3})) == "[[0. 0. 0.]\n [0. 0. 0.]]");
  CHECK(str(np::ones({2}, fx::i32)) == "[1 1]");
  CHECK(str(np::full({2, 2}, 0.5)) == "[[0.5 0.5]\n [0.5 0.5]]");
  CHECK(str(np::full({2, 2}, np::array({1, 2}))) == "[[1 2]\n [1 2]]");
  CHECK(str(np::full({2}, 3, fx::i64)) == "[3 3]");
  CHECK(str(np::zeros_like(xi)) == "[[0 0 0]\n [0 0 0]]");
  CHECK(str(np::ones_like(xi, fx::f32)) == "[[1. 1. 1.]\n [1. 1. 1.]]");
  CHECK(str(np::full_like(xi, 7)) == "[[7 7 7]\n [7 7 7]]");
  CHECK(str(np::eye(3)) == "[[1. 0. 0.]\n [0. 1. 0.]\n [0. 0. 1.]]");
  CHECK(str(np::eye(2, 4, 1, fx::i32)) == "[[0 1 0 0]\n [0 0 1 0]]");
  CHECK(str(np::eye(3, 2, -1)) == "[[0. 0.]\n [1. 0.]\n [0. 1.]]");
  CHECK(str(np::arange(5)) == "[0 1 2 3 4]");
  CHECK(str(np::arange(2, 11, 3)) == "[2 5 8]");
  CHECK(str(np::arange(5, 0, -2)) == "[5 3 1]");
  CHECK(str(np::arange(5, 0)) == "[]");
  CHECK(str(np::arange(0.0, 1.0, 0.25)) == "[0.   0.25 0.5  0.75]");
  CHECK(str(np::arange(0, 1, 0.3, fx::f64)) == "[0.  0.3 0.6 0.9]");
  CHECK(str(np::arange(3, fx::f64)) == "[0. 1. 2.]");
  CHECK(str(np::linspace(0, 1, 5)) == "[0.   0.25 0.5  0.75 1.  ]");
  CHECK(str(np::linspace(1, 2, 4, {.endpoint = false})) == "[1.   1.25 1.5  1.75]");
  CHECK(str(np::linspace(-1, 1, 3, {.dtype = fx::f64})) == "[-1.  0.  1.]");
  CHECK(str(np::linspace(3, 4, 1)) == "[3.]");
  CHECK(str(np::iota({2, 3}, 1)) == "[[0 1 2]\n [0 1 2]]");
  CHECK(str(np::array({1.5, -2.0})) == "[ 1.5 -2. ]");
  CHECK(str(np::array({{1, 2}, {3, 4}})) == "[[1 2]\n [3 4]]");
  CHECK(str(np::array({{{1, 2}}, {{3, 4}}}, fx::f32)) == "[[[1. 2.]]\n\n [[3. 4.]]]");
  CHECK(str(np::array({true, false})) == "[ True False]");
}

TEST_CASE("reductions") {
  CHECK(str(np::sum(x)) == "10.5");
  CHECK(str(np::sum(x, {.axis = 0})) == "[0.5 3.5 6.5]");
  CHECK(str(np::sum(x, {.axis = -1, .keepdims = true})) == "[[-1.5]\n [12. ]]");
  CHECK(str(np::sum(c, {.axis = {0, -1}})) == "[ 60  92 124]");
  CHECK(str(np::sum(c, {.axis = {2, 0}, .keepdims = true})) == "[[[ 60]\n  [ 92]\n  [124]]]");
  CHECK(str(np::sum(np::zeros({0}))) == "0.0");
  CHECK(str(np::prod(x, {.axis = 1})) == "[ 1. 55.]");
  CHECK(str(np::prod(np::zeros({0, 2}), {.axis = 0})) == "[1. 1.]");
  CHECK(str(np::max(x, {.axis = 0})) == "[2.5 4.  5.5]");
  CHECK(str(np::min(c, {.axis = 1})) == "[[ 0  1  2  3]\n [12 13 14 15]]");
  CHECK(str(np::max(np::array({1.0, not_a_number, 3.0}))) == "nan");
  CHECK(str(np::max(np::array({true, false}))) == "True");
  CHECK(str(np::mean(x)) == "1.75");
  CHECK(str(np::mean(x, {.axis = 1})) == "[-0.5  4. ]");
  CHECK(str(np::var(x)) == "6.5625");
  CHECK(str(np::var(x, {.axis = 0, .ddof = 1})) == "[10.125 10.125 10.125]");
  CHECK(str(np::std(x, {.axis = 1, .keepdims = true})) == "[[1.22474487]\n [1.22474487]]");
  CHECK(str(np::all(xi)) == "False");
  CHECK(str(np::any(xi, {.axis = 0})) == "[ True  True  True]");
  CHECK(str(np::all(x > -3, {.axis = 1})) == "[ True  True]");
  CHECK(str(np::argmax(x)) == "5");
  CHECK(str(np::argmin(x, {.axis = 0})) == "[0 0 0]");
  CHECK(str(np::argmax(c, {.axis = -1, .keepdims = true})) == "[[[3]\n  [3]\n  [3]]\n\n [[3]\n  [3]\n  [3]]]");
  CHECK(str(np::argmax(np::array({1.0, not_a_number, not_a_number}))) == "1");
  CHECK(str(np::argmax(np::array({2, 5, 5}))) == "1");
  CHECK(str(np::cumsum(x)) == "[-2.  -2.5 -1.5  1.   5.  10.5]");
  CHECK(str(np::cumsum(xi, {.axis = 1})) == "[[ 0  1  3]\n [ 3  7 12]]");
  CHECK(str(np::cumsum(xi, {.axis = 0, .reverse = true})) == "[[3 5 7]\n [3 4 5]]");
}

TEST_CASE("shapes") {
  CHECK(str(np::reshape(c, {4, -1})) ==
        "[[ 0  1  2  3  4  5]\n"
        " [ 6  7  8  9 10 11]\n"
        " [12 13 14 15 16 17]\n"
        " [18 19 20 21 22 23]]");
  CHECK(str(np::reshape(c, {-1, 2, 1, 6})) ==
        "[[[[ 0  1  2  3  4  5]]\n"
        "\n"
        "  [[ 6  7  8  9 10 11]]]\n"
        "\n"
        "\n"
        " [[[12 13 14 15 16 17]]\n"
        "\n"
        "  [[18 19 20 21 22 23]]]]");
  CHECK(str(np::ravel(xi)) == "[0 1 2 3 4 5]");
  CHECK(str(np::transpose(xi)) == "[[0 3]\n [1 4]\n [2 5]]");
  CHECK(str(np::transpose(c, {1, 0, 2})) ==
        "[[[ 0  1  2  3]\n"
        "  [12 13 14 15]]\n"
        "\n"
        " [[ 4  5  6  7]\n"
        "  [16 17 18 19]]\n"
        "\n"
        " [[ 8  9 10 11]\n"
        "  [20 21 22 23]]]");
  CHECK(str(np::transpose(c, {-1, 0, 1})) ==
        "[[[ 0  4  8]\n"
        "  [12 16 20]]\n"
        "\n"
        " [[ 1  5  9]\n"
        "  [13 17 21]]\n"
        "\n"
        " [[ 2  6 10]\n"
        "  [14 18 22]]\n"
        "\n"
        " [[ 3  7 11]\n"
        "  [15 19 23]]]");
  CHECK(str(np::swapaxes(c, 0, -1)) ==
        "[[[ 0 12]\n"
        "  [ 4 16]\n"
        "  [ 8 20]]\n"
        "\n"
        " [[ 1 13]\n"
        "  [ 5 17]\n"
        "  [ 9 21]]\n"
        "\n"
        " [[ 2 14]\n"
        "  [ 6 18]\n"
        "  [10 22]]\n"
        "\n"
        " [[ 3 15]\n"
        "  [ 7 19]\n"
        "  [11 23]]]");
  CHECK(str(np::moveaxis(c, 0, -1)) ==
        "[[[ 0 12]\n"
        "  [ 1 13]\n"
        "  [ 2 14]\n"
        "  [ 3 15]]\n"
        "\n"
        " [[ 4 16]\n"
        "  [ 5 17]\n"
        "  [ 6 18]\n"
        "  [ 7 19]]\n"
        "\n"
        " [[ 8 20]\n"
        "  [ 9 21]\n"
        "  [10 22]\n"
        "  [11 23]]]");
  CHECK(str(np::moveaxis(c, {0, 1}, {-1, 0})) ==
        "[[[ 0 12]\n"
        "  [ 1 13]\n"
        "  [ 2 14]\n"
        "  [ 3 15]]\n"
        "\n"
        " [[ 4 16]\n"
        "  [ 5 17]\n"
        "  [ 6 18]\n"
        "  [ 7 19]]\n"
        "\n"
        " [[ 8 20]\n"
        "  [ 9 21]\n"
        "  [10 22]\n"
        "  [11 23]]]");
  CHECK(str(np::expand_dims(xi, 1)) == "[[[0 1 2]]\n\n [[3 4 5]]]");
  CHECK(str(np::expand_dims(xi, {0, -1})) == "[[[[0]\n   [1]\n   [2]]\n\n  [[3]\n   [4]\n   [5]]]]");
  CHECK(str(np::squeeze(np::ones({1, 2, 1}))) == "[1. 1.]");
  CHECK(str(np::squeeze(np::ones({1, 2, 1}), -1)) == "[[1. 1.]]");
  CHECK(str(np::broadcast_to(np::array({1, 2, 3}), {2, 3})) == "[[1 2 3]\n [1 2 3]]");
}

TEST_CASE("joining and moving") {
  CHECK(str(np::concatenate({xi, xi})) == "[[0 1 2]\n [3 4 5]\n [0 1 2]\n [3 4 5]]");
  CHECK(str(np::concatenate({xi, np::array({{9}, {8}})}, -1)) == "[[0 1 2 9]\n [3 4 5 8]]");
  CHECK(str(np::stack({xi, xi})) == "[[[0 1 2]\n  [3 4 5]]\n\n [[0 1 2]\n  [3 4 5]]]");
  CHECK(str(np::stack({np::array({1, 2}), np::array({3, 4})}, 1)) == "[[1 3]\n [2 4]]");
  CHECK(str(np::stack({np::sum(xi), np::max(xi)})) == "[15  5]");
  CHECK(str(np::flip(xi)) == "[[5 4 3]\n [2 1 0]]");
  CHECK(str(np::flip(xi, 1)) == "[[2 1 0]\n [5 4 3]]");
  CHECK(str(np::roll(xi, 1)) == "[[5 0 1]\n [2 3 4]]");
  CHECK(str(np::roll(xi, -1, 1)) == "[[1 2 0]\n [4 5 3]]");
  CHECK(str(np::roll(xi, 5, {0, 1})) == "[[4 5 3]\n [1 2 0]]");
  CHECK(str(np::pad(xi, 1)) == "[[0 0 0 0 0]\n [0 0 1 2 0]\n [0 3 4 5 0]\n [0 0 0 0 0]]");
  CHECK(str(np::pad(np::array({1, 2}), {1, 2}, 9)) == "[9 1 2 9 9]");
  CHECK(str(np::pad(xi, {{0, 1}, {2, 0}}, -1)) == "[[-1 -1  0  1  2]\n [-1 -1  3  4  5]\n [-1 -1 -1 -1 -1]]");
  CHECK(str(np::pad(np::array({true}), 1)) == "[False  True False]");
}

TEST_CASE("selection and order") {
  CHECK(str(np::where(xi > 2, xi, -1)) == "[[-1 -1 -1]\n [ 3  4  5]]");
  CHECK(str(np::clip(xi, 1, 4)) == "[[1 1 2]\n [3 4 4]]");
  CHECK(str(np::clip(x, np::array({-1.0, 0.0, 1.0}), 3.0)) == "[[-1.   0.   1. ]\n [ 2.5  3.   3. ]]");
  CHECK(str(np::square(xi)) == "[[ 0  1  4]\n [ 9 16 25]]");
  CHECK(str(np::astype(x, fx::i32)) == "[[-2  0  1]\n [ 2  4  5]]");
  CHECK(str(np::sort(np::array({3.0, not_a_number, -1.0, 2.0}))) == "[-1.  2.  3. nan]");
  CHECK(str(np::sort(-xi, {.axis = 1})) == "[[-2 -1  0]\n [-5 -4 -3]]");
  CHECK(str(np::sort(-xi, {.axis = fx::none})) == "[-5 -4 -3 -2 -1  0]");
  CHECK(str(np::sort(np::array({{3, 1}, {2, 5}}), {.axis = 0})) == "[[2 1]\n [3 5]]");
  CHECK(str(np::argsort(np::array({3, 1, 2, 1}))) == "[1 3 2 0]");
  CHECK(str(np::take(xi, np::array({4, -1}))) == "[4 5]");
  CHECK(str(np::take(xi, np::array({{0, 2}, {1, 1}}), {.axis = 1})) == "[[[0 2]\n  [1 1]]\n\n [[3 5]\n  [4 4]]]");
  CHECK(str(np::take(xi, -1, {.axis = 0})) == "[3 4 5]");
  CHECK(str(np::take_along_axis(xi, np::argsort(-xi), -1)) == "[[2 1 0]\n [5 4 3]]");
  CHECK(str(np::take_along_axis(xi, np::array({{1, 0, 1}}), 0)) == "[[3 1 5]]");
  CHECK(str(np::tril(np::ones({3, 3}, fx::i32))) == "[[1 0 0]\n [1 1 0]\n [1 1 1]]");
  CHECK(str(np::triu(c, 1)) ==
        "[[[ 0  1  2  3]\n"
        "  [ 0  0  6  7]\n"
        "  [ 0  0  0 11]]\n"
        "\n"
        " [[ 0 13 14 15]\n"
        "  [ 0  0 18 19]\n"
        "  [ 0  0  0 23]]]");
  CHECK(str(np::tril(xi, -1)) == "[[0 0 0]\n [3 0 0]]");
  CHECK(str(np::diag(np::array({1, 2}))) == "[[1 0]\n [0 2]]");
  CHECK(str(np::diag(np::array({1, 2}), 1)) == "[[0 1 0]\n [0 0 2]\n [0 0 0]]");
  CHECK(str(np::diag(np::array({1, 2}), -1)) == "[[0 0 0]\n [1 0 0]\n [0 2 0]]");
  CHECK(str(np::diag(xi)) == "[0 4]");
  CHECK(str(np::diag(xi, 1)) == "[1 5]");
  CHECK(str(np::diag(xi, -1)) == "[3]");
  CHECK(str(np::diag(xi, 5)) == "[]");
}

TEST_CASE("products") {
  CHECK(str(np::matmul(xi, np::transpose(xi))) == "[[ 5 14]\n [14 50]]");
  CHECK(str(np::matmul(xi, np::array({1, 2, 3}))) == "[ 8 26]");
  CHECK(str(np::matmul(np::array({1, 2}), xi)) == "[ 6  9 12]");
  CHECK(str(np::matmul(np::array({1, 2, 3}), np::array({4, 5, 6}))) == "32");
  CHECK(str(np::matmul(c, np::ones({4, 2}, fx::i32))) ==
        "[[[ 6  6]\n"
        "  [22 22]\n"
        "  [38 38]]\n"
        "\n"
        " [[54 54]\n"
        "  [70 70]\n"
        "  [86 86]]]");
  CHECK(str(np::matmul(xi, c)) ==
        "[[[ 20  23  26  29]\n"
        "  [ 56  68  80  92]]\n"
        "\n"
        " [[ 56  59  62  65]\n"
        "  [200 212 224 236]]]");
  CHECK(str(np::matmul(np::reshape(c, {2, 1, 3, 4}), np::reshape(c, {2, 4, 3}))) ==
        "[[[[  42   48   54]\n"
        "   [ 114  136  158]\n"
        "   [ 186  224  262]]\n"
        "\n"
        "  [[ 114  120  126]\n"
        "   [ 378  400  422]\n"
        "   [ 642  680  718]]]\n"
        "\n"
        "\n"
        " [[[ 258  312  366]\n"
        "   [ 330  400  470]\n"
        "   [ 402  488  574]]\n"
        "\n"
        "  [[ 906  960 1014]\n"
        "   [1170 1240 1310]\n"
        "   [1434 1520 1606]]]]");
  CHECK(str(np::dot(c, np::array({1, 0, 0, 1}))) == "[[ 3 11 19]\n [27 35 43]]");
  CHECK(str(np::dot(xi, c)) ==
        "[[[ 20  23  26  29]\n"
        "  [ 56  59  62  65]]\n"
        "\n"
        " [[ 56  68  80  92]\n"
        "  [200 212 224 236]]]");
  CHECK(str(np::dot(xi, 2)) == "[[ 0  2  4]\n [ 6  8 10]]");
  CHECK(str(np::tensordot(c, c, {0, 1}, {0, 1})) ==
        "[[ 880  940 1000 1060]\n"
        " [ 940 1006 1072 1138]\n"
        " [1000 1072 1144 1216]\n"
        " [1060 1138 1216 1294]]");
  CHECK(str(np::tensordot(xi, c)) == "[220 235 250 265]");
  CHECK(str(np::tensordot(xi, np::array({1, 2, 3}), 1)) == "[ 8 26]");
  CHECK(str(np::outer(np::array({1, 2}), np::array({3, 4, 5}))) == "[[ 3  4  5]\n [ 6  8 10]]");
}

TEST_CASE("printing") {
  CHECK(str(Array(1.0)) == "1.0");
  CHECK(str(Array(1e16)) == "1e+16");
  CHECK(str(Array(0.1f)) == "0.1");
  CHECK(str(Array(1e6f)) == "1e+06");
  CHECK(str(Array(1.5e-5)) == "1.5e-05");
  CHECK(str(Array(true)) == "True");
  CHECK(str(Array(-3)) == "-3");
  CHECK(str(np::array({0.1, 0.25, -1.0})) == "[ 0.1   0.25 -1.  ]");
  CHECK(str(np::array({1e-5, 1.0})) == "[1.e-05 1.e+00]");
  CHECK(str(np::array({1e100, -2.5e-100})) == "[ 1.0e+100 -2.5e-100]");
  CHECK(str(np::array({1.0 / 3, 2.0 / 3, 100.0})) == "[  0.33333333   0.66666667 100.        ]");
  CHECK(str(np::array({not_a_number, inf, -inf, 1.0})) == "[ nan  inf -inf   1.]");
  CHECK(str(np::array({0.5f, -0.0f, 3e-5f})) == "[ 5.e-01 -0.e+00  3.e-05]");
  CHECK(str(np::array({{true, false}, {true, true}})) == "[[ True False]\n [ True  True]]");
  CHECK(str(np::array({1, -20, 300})) == "[  1 -20 300]");
  CHECK(str(np::arange(30)) ==
        "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n"
        " 24 25 26 27 28 29]");
  CHECK(str(np::zeros({2, 0})) == "[]");
  CHECK(str(np::reshape(np::arange(8), {2, 2, 2})) == "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]");
  CHECK(str(np::arange(1001)) == "[   0    1    2 ...  998  999 1000]");
  CHECK(str(np::reshape(np::arange(1100), {2, 550})) ==
        "[[   0    1    2 ...  547  548  549]\n"
        " [ 550  551  552 ... 1097 1098 1099]]");
  CHECK(str(np::reshape(np::arange(2000), {10, 10, 20})) ==
        "[[[   0    1    2 ...   17   18   19]\n"
        "  [  20   21   22 ...   37   38   39]\n"
        "  [  40   41   42 ...   57   58   59]\n"
        "  ...\n"
        "  [ 140  141  142 ...  157  158  159]\n"
        "  [ 160  161  162 ...  177  178  179]\n"
        "  [ 180  181  182 ...  197  198  199]]\n"
        "\n"
        " [[ 200  201  202 ...  217  218  219]\n"
        "  [ 220  221  222 ...  237  238  239]\n"
        "  [ 240  241  242 ...  257  258  259]\n"
        "  ...\n"
        "  [ 340  341  342 ...  357  358  359]\n"
        "  [ 360  361  362 ...  377  378  379]\n"
        "  [ 380  381  382 ...  397  398  399]]\n"
        "\n"
        " [[ 400  401  402 ...  417  418  419]\n"
        "  [ 420  421  422 ...  437  438  439]\n"
        "  [ 440  441  442 ...  457  458  459]\n"
        "  ...\n"
        "  [ 540  541  542 ...  557  558  559]\n"
        "  [ 560  561  562 ...  577  578  579]\n"
        "  [ 580  581  582 ...  597  598  599]]\n"
        "\n"
        " ...\n"
        "\n"
        " [[1400 1401 1402 ... 1417 1418 1419]\n"
        "  [1420 1421 1422 ... 1437 1438 1439]\n"
        "  [1440 1441 1442 ... 1457 1458 1459]\n"
        "  ...\n"
        "  [1540 1541 1542 ... 1557 1558 1559]\n"
        "  [1560 1561 1562 ... 1577 1578 1579]\n"
        "  [1580 1581 1582 ... 1597 1598 1599]]\n"
        "\n"
        " [[1600 1601 1602 ... 1617 1618 1619]\n"
        "  [1620 1621 1622 ... 1637 1638 1639]\n"
        "  [1640 1641 1642 ... 1657 1658 1659]\n"
        "  ...\n"
        "  [1740 1741 1742 ... 1757 1758 1759]\n"
        "  [1760 1761 1762 ... 1777 1778 1779]\n"
        "  [1780 1781 1782 ... 1797 1798 1799]]\n"
        "\n"
        " [[1800 1801 1802 ... 1817 1818 1819]\n"
        "  [1820 1821 1822 ... 1837 1838 1839]\n"
        "  [1840 1841 1842 ... 1857 1858 1859]\n"
        "  ...\n"
        "  [1940 1941 1942 ... 1957 1958 1959]\n"
        "  [1960 1961 1962 ... 1977 1978 1979]\n"
        "  [1980 1981 1982 ... 1997 1998 1999]]]");
}

TEST_CASE("dtypes") {
  CHECK(np::zeros({2}).dtype() == fx::f32);
  CHECK(np::arange(3).dtype() == fx::i32);
  CHECK(np::arange(3.0).dtype() == fx::f32);
  CHECK(np::arange(0, 3, 0.5).dtype() == fx::f32);
  CHECK(np::array({1.0}).dtype() == fx::f64);
  CHECK(np::array({1.0f}).dtype() == fx::f32);
  CHECK(np::array({1}).dtype() == fx::i32);
  CHECK(np::array({1l}).dtype() == fx::i64);
  CHECK(np::array({1u}).dtype() == fx::u32);
  CHECK(np::sum(xi).dtype() == fx::i32);
  CHECK(np::argmax(x).dtype() == fx::i32);
  CHECK(np::argmax(x, {.dtype = fx::i64}).dtype() == fx::i64);
  CHECK(np::all(xi).dtype() == fx::boolean);
  CHECK(np::mean(np::ones({2})).dtype() == fx::f32);
  CHECK(np::full({2}, np::array({2})).dtype() == fx::i32);
}

TEST_CASE("special values") {
  CHECK(str(np::mean(np::zeros({0}))) == "nan");
  CHECK(str(np::sum(np::array({-0.0}))) == "-0.0");
  CHECK(str(np::clip(not_a_number, 0.0, 1.0)) == "nan");
  CHECK(np::max(np::zeros({3, 0}), {.axis = 0}).shape() == fx::Dims{0});
  CHECK(np::matmul(np::ones({2, 0}), np::ones({0, 2})).shape() == fx::Dims{2, 2});
  CHECK(str(np::matmul(np::ones({2, 0}), np::ones({0, 1}))) == "[[0.]\n [0.]]");
  CHECK(str(np::arange(INT64_MAX - 1, INT64_MAX, 1, fx::i64)) == "[9223372036854775806]");
}

TEST_CASE("gradients") {
  using fx::grad;
  const Array v = np::array({3.0, 1.0, 3.0, 2.0});
  CHECK(str(grad([](const Array& a) { return np::mean(a); })(v)) == "[0.25 0.25 0.25 0.25]");
  CHECK(str(grad([](const Array& a) { return np::max(a); })(v)) == "[0.5 0.  0.5 0. ]");
  CHECK(str(grad([](const Array& a) { return np::var(a); })(v)) == "[ 0.375 -0.625  0.375 -0.125]");
  CHECK(str(grad([](const Array& a) { return np::std(a); })(np::array({1.0, 3.0}))) == "[-0.5  0.5]");
  CHECK(str(grad([](const Array& a) { return np::prod(a); })(np::array({2.0, 0.0, 3.0}))) == "[0. 6. 0.]");
  CHECK(str(grad([](const Array& a) { return np::sum(np::sort(a) * np::arange(4, fx::f64)); })(v)) == "[2. 0. 3. 1.]");
  CHECK(str(grad([](const Array& a) { return np::sum(np::cumsum(a)); })(v)) == "[4. 3. 2. 1.]");
  CHECK(str(grad([](const Array& a) { return np::sum(np::clip(a, 1.5, 2.5)); })(v)) == "[0. 0. 0. 1.]");
  CHECK(str(grad([](const Array& a) { return np::sum(np::pad(a, 1) * np::arange(6, fx::f64)); })(v)) == "[1. 2. 3. 4.]");
  CHECK(str(grad([](const Array& a) { return np::sum(np::roll(a, 1) * np::arange(4, fx::f64)); })(v)) == "[1. 2. 3. 0.]");
  CHECK(str(grad([](const Array& a) { return np::sum(np::take(a, np::array({1, 1, -1}))); })(v)) == "[0. 2. 0. 1.]");
  CHECK(str(grad([](const Array& a) { return np::sum(np::diag(np::diag(a)) * a); })(v)) == "[6. 2. 6. 4.]");
  CHECK(str(grad([](const Array& a) { return np::sum(np::concatenate({a, a * 2.0})); })(v)) == "[3. 3. 3. 3.]");
  CHECK(str(grad([](const Array& a) { return np::sum(np::square(np::stack({a, a}))); })(v)) == "[12.  4. 12.  8.]");
  // d sum(A B) = ones B^T: batches that only one side has are summed.
  const auto product = [](const Array& a, const Array& b) { return np::sum(np::matmul(a, b)); };
  const Array m = np::reshape(np::arange(6, fx::f64), {2, 3}), stack = np::reshape(np::arange(12, fx::f64), {2, 3, 2});
  const auto [da, db] = grad<0, 1>(product)(m, stack);
  CHECK(str(da) == "[[14. 22. 30.]\n [14. 22. 30.]]");
  CHECK(str(db) == "[[[3. 3.]\n  [5. 5.]\n  [7. 7.]]\n\n [[3. 3.]\n  [5. 5.]\n  [7. 7.]]]");
}

TEST_CASE("one operation, one Graph; under vmap and make_jaxpr") {
  const auto mean = [](const Array& a) { return np::mean(a, {.axis = 0}); };
  CHECK(fx::make_jaxpr(mean)(fx::type(fx::f32, {4, 2})) ==
        "{ lambda ; a:f32[4,2]. let\n"
        "    b:f32[2] = reduce_sum[axes=(0)] a\n"
        "    c:f32[2] = div b 4.0:f32\n"
        "  in (c,) }");
  // A stack of matrices by one matrix is one product without a copy.
  CHECK(fx::make_jaxpr([](const Array& a, const Array& b) { return np::matmul(a, b); })(
            fx::type(fx::f32, {5, 4, 3}), fx::type(fx::f32, {3, 2})) ==
        "{ lambda ; a:f32[5,4,3] b:f32[3,2]. let\n"
        "    c:f32[5,4,2] = dot_general[lhs_contract=(2) rhs_contract=(0) lhs_batch=() rhs_batch=()] a b\n"
        "  in (c,) }");
  CHECK(str(fx::vmap([](const Array& a) { return np::sort(a) - np::min(a); })(np::array({{3, 1}, {7, 9}}))) ==
        "[[0 2]\n [0 2]]");
  CHECK(str(fx::vmap([](const Array& a) { return np::zeros_like(a); })(np::ones({2, 2}))) == "[[0. 0.]\n [0. 0.]]");
  CHECK(fx::eval_shape([](const Array& a) { return np::outer(a, a); })(fx::type(fx::f32, {3})).shape() == fx::Dims{3, 3});
}

TEST_CASE("traced Arrays print their type") {
  std::string seen;
  fx::make_jaxpr([&](const Array& a) { return seen = str(a), a; })(fx::type(fx::f32, {3}));
  CHECK(seen == "Traced<f32[3]>");
  CHECK(str(fx::spec(fx::type(fx::i32, {2, 2}))) == "Spec<i32[2,2]>");
}

TEST_CASE("errors name the function, the types and the user's line") {
  using fx::ErrorCode;
  CHECK(error_of([] { np::sum(x, {.axis = 2}); }) == "np::sum: f64[2,3] has no axis 2; its axes are -2 to 1");
  CHECK(last.code == ErrorCode::shape);
  CHECK(last.where.line == __LINE__ - 2);
  CHECK(std::string(last.where.file).ends_with("test_numpy.cpp"));
  CHECK(error_of([] { np::sum(1.0, {.axis = 0}); }) == "np::sum: f64[] has no axis 0; it is a scalar");
  CHECK(error_of([] { np::sum(x, {.axis = {0, -2}}); }) == "np::sum: axis 0 of f64[2,3] is given twice");
  CHECK(error_of([] { np::max(np::zeros({2, 0}), {.axis = 1}); }) ==
        "np::max: f32[2,0] has no elements to choose from along the reduced axes");
  CHECK(error_of([] { np::mean(xi); }) ==
        "np::mean: i32[2,3] is no floating-point value; convert it with fx::convert(x, fx::f32)");
  CHECK(last.code == ErrorCode::dtype);
  CHECK(error_of([] { np::sum(xi > 0); }).starts_with("reduce_sum: takes numbers, got bool[2,3]"));
  CHECK(error_of([] { np::argmax(np::zeros({0})); }) == "np::argmax: f32[0] has no elements to choose from");
  CHECK(error_of([] { np::matmul(x, x); }) ==
        "np::matmul: f64[2,3] and f64[2,3] do not fit: axis 1 of the first has size 3, axis 0 of the second 2");
  CHECK(last.where.line == __LINE__ - 2);
  CHECK(error_of([] { np::matmul(x, xi); }) ==
        "np::matmul: f64[2,3] and i32[2,3] have different dtypes; fx never promotes: convert one with fx::convert");
  CHECK(error_of([] { np::matmul(x, 2.0); }) == "np::matmul: f64[] is a scalar; multiply by it with *");
  CHECK(error_of([] { np::matmul(np::ones({2, 1, 3}), np::ones({3, 3, 1})); }).starts_with("np::matmul: shapes [2] and [3] do not broadcast"));
  CHECK(error_of([] { np::reshape(c, {5, -1}); }) == "np::reshape: i32[2,3,4] has 24 elements, which 5 does not divide");
  CHECK(error_of([] { np::reshape(c, {-1, -1}); }) == "np::reshape: only one size may be -1");
  CHECK(error_of([] { np::reshape(c, {-3}); }) == "np::reshape: a size is negative");
  CHECK(error_of([] { np::reshape(c, {5}); }).starts_with("reshape: shape [5] has another number of elements than i32[2,3,4]"));
  CHECK(error_of([] { np::transpose(c, {0, 1}); }).starts_with("transpose: [0,1] is no permutation"));
  CHECK(error_of([] { np::squeeze(c, 1); }) ==
        "np::squeeze: i32[2,3,4] has size 3 along axis 1, and only axes of size 1 can go");
  CHECK(error_of([] { np::expand_dims(xi, 3); }) == "np::expand_dims: axis 3 is out of range; the result has axes -3 to 2");
  CHECK(error_of([] { np::broadcast_to(xi, {3, 2}); }) == "np::broadcast_to: i32[2,3] does not broadcast to [3,2]");
  CHECK(error_of([] { np::concatenate({xi, x}); }) ==
        "np::concatenate: i32[2,3] and f64[2,3] have different dtypes; fx never promotes: convert one with fx::convert");
  CHECK(error_of([] { np::concatenate({xi, c}); }) ==
        "np::concatenate: i32[2,3] and i32[2,3,4] may differ in size only along axis 0");
  CHECK(error_of([] { np::concatenate(std::vector<Array>()); }) == "np::concatenate: takes at least one Array");
  CHECK(error_of([] { np::stack({xi, c}); }) == "np::stack: i32[2,3] and i32[2,3,4] must have one shape");
  CHECK(error_of([] { np::pad(xi, {{1, 1}}); }) == "np::pad: i32[2,3] has 2 axes, and widths are given for 1");
  CHECK(error_of([] { np::pad(xi, 1, 0.5); }).starts_with("the number 0.5 is not representable as i32"));
  CHECK(error_of([] { np::zeros({2, -1}); }) == "np::zeros: size -1 of axis 1 is negative");
  CHECK(last.where.line == __LINE__ - 1);
  CHECK(error_of([] { np::zeros({2}, fx::f16); }) ==
        "np::zeros: arithmetic on f16 comes in a later version; use f32 or i32");
  CHECK(error_of([] { np::array({{1, 2}, {3}}); }) ==
        "np::array: lists of 2 and 1 elements side by side; rows must have one length");
  CHECK(error_of([] { np::arange(0, 5, 0); }) == "np::arange: the step is 0, or a bound is NaN");
  CHECK(error_of([] { np::take(xi, np::array({0.5})); }) ==
        "np::take: f64[1] is no index; indices are i32, i64, u32 or u64");
  CHECK(error_of([] { np::tril(np::array({1})); }) == "np::tril: i32[1] is no matrix");
  CHECK(error_of([] { np::tensordot(xi, xi, {0}, {0, 1}); }) ==
        "np::tensordot: takes as many axes of the first operand as of the second");
  CHECK(error_of([] { str(Array()); }) == "this Array is empty: it was moved from, or never given a value");
  CHECK(last.code == ErrorCode::state);
}

namespace {
constexpr bool same(const Array& a, const Array& b) { return a.type() == b.type() && np::all(a == b).item<bool>(); }

static_assert(np::sum(np::array({1.0, 2.0})).item<double>() == 3);
static_assert(np::var(np::array({1.0, 2.0, 6.0}), {.ddof = 1}).item<double>() == 7);
static_assert(np::argmax(np::array({1.0, 6.0, 2.0})).item<int>() == 1);
static_assert(same(np::cumsum(np::arange(4)), np::array({0, 1, 3, 6})));
static_assert(same(np::matmul(np::array({{1, 2}, {3, 4}}), np::array({5, 6})), np::array({17, 39})));
static_assert(same(np::linspace(0, 1, 3), np::array({0.0f, 0.5f, 1.0f})));
static_assert(same(np::sort(np::array({3, 1, 2})), np::array({1, 2, 3})));
static_assert(same(np::diag(np::diag(np::array({3, 1}), -1), -1), np::array({3, 1})));
static_assert(same(np::roll(np::array({3, 1, 2}), 1), np::array({2, 3, 1})));
static_assert(same(np::pad(np::array({1}), {1, 2}, 7), np::array({7, 1, 7, 7})));
static_assert(same(np::concatenate({np::arange(2), np::arange(1)}), np::array({0, 1, 0})));
static_assert(same(np::transpose(np::array({{1, 2}, {3, 4}})), np::array({{1, 3}, {2, 4}})));
static_assert(same(fx::grad([](auto a) { return np::sum(np::square(a)); })(np::array({1.0, -2.0})), np::array({2.0, -4.0})));
static_assert(same(fx::grad([](auto a) { return np::max(a); })(np::array({1.0, 4.0})), np::array({0.0, 1.0})));
}  // namespace
