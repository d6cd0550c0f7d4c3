// test_numpy.cpp -- fx::numpy and printing against NumPy 2.4: the expected texts are its own.
#include <doctest/doctest.h>

#include <cmath>
#include <fx/fx.hpp>
#include <string>

namespace {

using fx::Array;
namespace np = fx::numpy;

std::string str(const Array& x) { return fx::to_string(x); }

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
