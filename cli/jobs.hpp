// Work on several threads, its results taken in order by the caller's own.
#pragma once
#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "dopesheet/error.hpp"

namespace cli {

// Calls work(i) for 0 to n - 1 on `jobs` threads, and take(i, result) here, in order: what comes out does
// not depend on the number of threads. Stops at the first error of `take`. Finished results wait for
// their turn, a few for each thread and no more.
template <class Work, class Take>
Result<void> in_order(std::size_t jobs, std::size_t n, const Work& work, const Take& take) {
  using R = decltype(work(std::size_t{}));
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::size_t, R> ready;
  std::size_t next = 0, taken = 0;
  bool stop = false;
  const std::size_t ahead = 4 * std::max<std::size_t>(jobs, 1);
  const auto run = [&] {
    for (;;) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return stop || next >= n || next < taken + ahead; });
      if (stop || next >= n) return;
      const std::size_t i = next++;
      lock.unlock();
      R result = work(i);
      lock.lock();
      ready.emplace(i, std::move(result));
      changed.notify_all();
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < std::min(std::max<std::size_t>(jobs, 1), n); ++i)
    threads.emplace_back(run);
  Result<void> done;
  for (std::size_t i = 0; i < n && done; ++i) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return ready.count(i) != 0; });
    R result = std::move(ready.extract(i).mapped());
    taken = i + 1;
    changed.notify_all();
    lock.unlock();
    done = take(i, std::move(result));
  }
  {
    const std::lock_guard lock(mutex);
    stop = true;
    changed.notify_all();
  }
  threads.clear();  // joins them
  return done;
}

}  // namespace cli
