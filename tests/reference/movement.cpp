// reference/movement.cpp -- primitives that move elements: for each result element, where it comes from.
#include "reference/reference.hpp"

namespace reference {
namespace {

using Index = std::vector<std::int64_t>;

// Result element at `index` = element source(index) of operand 0.
template <class F>
Values moved(const Call& c, F&& source) {
  Value out = zeros(c.out_type());
  for (std::size_t i = 0; i < out.at.size(); ++i)
    out.at[i] = c[0].at[ravel(source(unravel(std::int64_t(i), out.type.dims)), c[0].type.dims)];
  return {out};
}

Values broadcast_in_dim(const Call& c) {
  const fx::Dims to = c.attrs().dims(1);
  return moved(c, [&](const Index& index) {
    Index from;
    for (int k = 0; k < to.n; ++k) from.push_back(c[0].type.dims[k] == 1 ? 0 : index[to[k]]);
    return from;
  });
}

Values reshape(const Call& c) { return {{c.out_type(), c[0].at}}; }

Values transpose(const Call& c) {
  const fx::Dims perm = c.attrs().dims(0);
  return moved(c, [&](const Index& index) {
    Index from(perm.n);
    for (int k = 0; k < perm.n; ++k) from[perm[k]] = index[k];
    return from;
  });
}

Values rev(const Call& c) {
  const fx::Dims dims = c.attrs().dims(0);
  return moved(c, [&](Index index) {
    for (std::int64_t k : dims) index[k] = c[0].type.dims[int(k)] - 1 - index[k];
    return index;
  });
}

Values slice(const Call& c) {
  const fx::Dims start = c.attrs().dims(0), stride = c.attrs().dims(2);
  return moved(c, [&](Index index) {
    for (int k = 0; k < start.n; ++k) index[k] = start[k] + index[k] * stride[k];
    return index;
  });
}

Values pad(const Call& c) {
  const fx::Dims low = c.attrs().dims(0), interior = c.attrs().dims(2);
  Value out = zeros(c.out_type());
  for (Element& x : out.at) x = c[1].at[0];
  for (std::size_t i = 0; i < c[0].at.size(); ++i) {
    Index index = unravel(std::int64_t(i), c[0].type.dims);
    bool inside = true;
    for (int k = 0; k < low.n; ++k) {
      index[k] = low[k] + index[k] * (interior[k] + 1);
      inside = inside && index[k] >= 0 && index[k] < out.type.dims[k];
    }
    if (inside) out.at[ravel(index, out.type.dims)] = c[0].at[i];
  }
  return {out};
}

Values concatenate(const Call& c) {
  const int dim = int(c.attrs().integer(0));
  Value out = zeros(c.out_type());
  std::int64_t before = 0;
  for (const Value* v : c.in) {
    for (std::size_t i = 0; i < v->at.size(); ++i) {
      Index index = unravel(std::int64_t(i), v->type.dims);
      index[dim] += before;
      out.at[ravel(index, out.type.dims)] = v->at[i];
    }
    before += v->type.dims[dim];
  }
  return {out};
}

}  // namespace

void add_movement(Rules& rules) {
  rules.insert(rules.end(), {{"broadcast_in_dim", broadcast_in_dim},
                             {"reshape", reshape},
                             {"transpose", transpose},
                             {"rev", rev},
                             {"slice", slice},
                             {"pad", pad},
                             {"concatenate", concatenate}});
}

}  // namespace reference
