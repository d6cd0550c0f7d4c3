#!/usr/bin/env bash
# Each wrong pytree is one compile error, and it says what to change. By hand: compile_fail_pytree.sh COMPILER
. "$(dirname "$0")/lib.bash"
cxx=${1:-$cxx}
failed=0

# compile DECLARATIONS TYPE: the compiler's text for a program that takes a TYPE for a pytree.
compile() {
  cat >"$tmp/program.cpp" <<EOF
#include <fx/pytree.hpp>
$1
int count(const $2& t) { return fx::tree::leaf_count(t); }
EOF
  "$cxx" "${flags[@]}" -fsyntax-only "$tmp/program.cpp" >"$tmp/log" 2>&1
}
complain() {
  echo "FAIL: $1"
  cat "$tmp/log"
  failed=1
}

# rejects WHAT MESSAGE DECLARATIONS [TYPE]
rejects() {
  if compile "$3" "${4:-Bad}"; then
    complain "$1: compiles"
  elif ! grep -qF "$2" "$tmp/log"; then
    complain "$1: the message is missing"
  elif [ "$(grep -c 'error:' "$tmp/log")" != 1 ]; then
    complain "$1: more than one error"
  fi
}

number="fx: a floating-point or integer member of a pytree must be fx::Array (traced), a template parameter, or fx::Static<T> (part of the key)"
base="fx: a pytree aggregate may not have base classes; make the base a member"
c_array="fx: C-array members are not supported in pytrees; use std::array"

compile 'struct Good { std::string name; fx::Static<double> lr; std::vector<Good> more; };' Good || complain "a good program"

rejects "double member" "$number" 'struct Bad { std::string name; double lr; };'
rejects "bool member" "$number" 'struct Bad { bool train; };'
rejects "nested double" "$number" 'struct In { std::string s; float x; }; struct Bad { std::string s; std::vector<In> v; };'
rejects "vector of double" "$number" '' 'std::vector<double>'
rejects "tuple with int" "$number" '' 'std::tuple<std::string, int>'
rejects "base" "$base" 'struct Base { std::string s; }; struct Bad : Base { std::string t; };'
rejects "empty base" "$base" 'struct Base {}; struct Bad : Base { std::string t; };'
rejects "C array" "$c_array" 'struct Bad { std::string s; std::string a[3]; std::string t; };'
rejects "C array of one" "$c_array" 'struct Bad { std::string s[1]; };'
rejects "C array of numbers" "$c_array" 'struct Bad { std::string s; double a[100]; };'
rejects "33 members" "at most 32 members" \
  'using S = std::string; struct Bad { S a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z,A,B,C,D,E,F,G; };'
rejects "map key" "must be std::string, integers or enums" '' 'std::map<double, std::string>'
rejects "static without fx_key" "needs a function void fx_key(fx::Str&, const T&)" \
  'struct Grid { int x, y; }; struct Bad { fx::Static<Grid> grid; };'
rejects "pointer" "fx: no part of a pytree" 'struct Bad { std::string* p; };'
rejects "class" "fx: no part of a pytree" 'class Bad { std::string s; public: Bad(); };'

# The error names the struct and the type of the culprit in it.
compile 'struct Inner { std::string s; float x; }; struct Bad { std::vector<Inner> v; };' Bad || true
grep -q 'report_fault.*Inner.*float' "$tmp/log" || complain "the culprit is not named"

[ $failed = 0 ] || fail "see above"
echo "wrong pytrees are refused with their cure: $cxx"
