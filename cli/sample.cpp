// dopesheet sample: poses at times, as CSV or JSON.
#include <fmt/format.h>

#include "cli.hpp"
#include "io/file.hpp"

namespace cli {
namespace {

Result<std::vector<Frame>> frames_of(const Input& in, const Clip& clip,
                                     const SampleOptions& options) {
  dopesheet::SampleOptions when;
  when.rate = options.fps;
  when.times = options.times;
  const double rate = options.fps > 0 ? options.fps : clip.frames_per_second;
  const double frames = options.times.empty() ? (clip.end - clip.start) * rate : 0;
  if (frames * static_cast<double>(clip.nodes.size() + 1) >
      static_cast<double>(in.options.limits.keys)) {
    return tl::unexpected(
        Error{Code::limit,
              0,
              {},
              fmt::format("{:.0f} frames are more than the limit; lower --fps", frames)});
  }
  const auto times = sample_times(clip, when);
  if (!options.exact) return sample_frames(clip, times);
  if (in.format->exact == nullptr) {
    return tl::unexpected(usage_error(fmt::format("{} has no exact evaluation", in.format->title)));
  }
  auto exact = in.format->exact(in.bytes, in.options, times);
  if (!exact) return exact;
  const auto smooth = sample_frames(clip, times);  // morph weights have no other form
  for (std::size_t i = 0; i < exact->size(); ++i) {
    (*exact)[i].weights = smooth[i].weights;
    if (clip.space == Space::left_handed) continue;
    for (Transform& t : (*exact)[i].nodes) {
      t.translation = mirror_x(t.translation);
      t.rotation = mirror_x(t.rotation);
    }
  }
  return exact;
}

}  // namespace

int sample(const SampleOptions& options) {
  const auto model = read_skeleton(options.common);
  if (!model) return report_error(model.error());
  const auto paths = expand_inputs(options.common);
  if (!paths) return report_error(paths.error());
  const std::string& to = options.common.output;
  const bool json = options.common.json || io::file_extension(to) == ".json";
  std::optional<Outputs> outputs;
  if (!to.empty() && to != "-") {
    auto plan = Outputs::plan(options.common, *paths, json ? ".json" : ".csv");
    if (!plan) return report_error(plan.error());
    outputs = std::move(*plan);
  } else if (paths->size() > 1) {
    return report_error(usage_error("several inputs need -o with a folder"));
  }
  Common quiet = options.common;
  quiet.json = false;
  std::size_t i = 0;
  return run_inputs(
      quiet, *model ? &**model : nullptr, Identify::yes,
      [&](const Input& in, Json&) -> Result<void> {
        while ((*paths)[i] != in.path) ++i;
        if (in.format->clips == nullptr) {
          return tl::unexpected(Error{Code::cannot_represent,
                                      0,
                                      {},
                                      fmt::format("a {} holds no motion", in.format->title)});
        }
        auto clips = in.format->clips(in.bytes, in.options).and_then(all);
        if (!clips) return tl::unexpected(clips.error());
        if (!json && clips->size() > 1) {
          return tl::unexpected(usage_error(fmt::format(
              "a CSV has room for one motion of the {}; name it after a #, or take JSON",
              clips->size())));
        }
        std::string text;
        for (Clip& clip : *clips) {
          if (options.gltf_space) clip = to_right_handed(std::move(clip));
          const auto frames = frames_of(in, clip, options);
          if (!frames) return tl::unexpected(frames.error());
          if (!text.empty()) text += ",\n";
          text += json ? frames_to_json(clip, *frames) : frames_to_csv(clip, *frames);
        }
        if (clips->size() > 1) text = "[\n" + text + "]\n";
        return write_output(outputs ? outputs->of(i) : "-", text);
      });
}

}  // namespace cli
