// One clip against others that were made of it.
#pragma once
#include <memory>

#include "dopesheet/compare.hpp"

namespace dopesheet {

// compare(), again and again with the same first clip, whose poses are kept while they are small and the
// times stay the same. The clip must outlive it.
class Comparer {
 public:
  Comparer(const Clip& clip, const CompareOptions& options);
  ~Comparer();
  Comparer(const Comparer&) = delete;
  Comparer& operator=(const Comparer&) = delete;

  ErrorReport with(const Clip& other);

 private:
  struct Kept;
  const Clip& clip_;
  CompareOptions options_;
  std::unique_ptr<Kept> kept_;
};

}  // namespace dopesheet
