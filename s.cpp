#include <fx/base/fp_text.hpp>
namespace fp=fx::detail::fp;
constexpr bool P(double v){fx::Str s;fp::put_float(s,v);return s.size()>0;}
constexpr bool PF(float v){fx::Str s;fp::put_float(s,v);return s.size()>0;}
constexpr bool R(std::string_view t){double v=0;return fp::parse_float(t,v);}
static_assert(R("0.1"));
