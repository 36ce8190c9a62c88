// dopesheet convert: to glTF, to poses as JSON or CSV, or to the same format again.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli.hpp"
#include "io/file.hpp"
#include "io/text.hpp"
#include "jobs.hpp"

namespace cli {
namespace {

bool is_target(const std::string& to) {
  if (to == "glb" || to == "gltf" || to == "json" || to == "csv") return true;
  return std::any_of(
      dopesheet::formats().begin(), dopesheet::formats().end(), [&](const Format& f) {
        return (std::string(f.extensions) + " ").find("." + to + " ") != std::string::npos;
      });
}

// A motion's name comes from a file: here it becomes one plain name within a folder, on every system.
std::string plain_name(const std::string& bytes) {
  std::string out = io::escape_bytes(bytes);
  for (char& c : out) {
    if (std::string_view("/\\:*?\"<>|").find(c) != std::string_view::npos) c = '_';
  }
  std::size_t size = std::min<std::size_t>(out.size(), 200);
  while (size < out.size() && (static_cast<unsigned char>(out[size]) & 0xC0U) == 0x80) --size;
  out.resize(size);
  if (out.empty()) return "motion";
  if (out.front() == '.') out.front() = '_';
  return out;
}

class Converter {
 public:
  Converter(const ConvertOptions& options, const std::optional<Model>& model)
      : options_(options), model_(model ? &*model : nullptr) {}

  int run() {
    const Common& common = options_.common;
    if (common.output.empty())
      return report_error(usage_error("convert needs -o with a file, a folder or -"), common);
    if (!options_.to.empty() && !is_target(options_.to)) {
      return report_error(
          usage_error(fmt::format("'{}' is no format to convert to", shown(options_.to))), common);
    }
    const std::string extension =
        io::is_folder(common.output) ? "" : io::file_extension(common.output);
    to_ = !options_.to.empty() ? options_.to : extension.empty() ? "glb" : extension.substr(1);
    if (to_ == "json" || to_ == "csv") return poses();
    const auto paths = expand_inputs(common);
    if (!paths) return report_error(paths.error(), common);
    inputs_ = *paths;
    const bool gltf = to_ == "glb" || to_ == "gltf";
    const bool folder = common.output.ends_with('/') || io::is_folder(common.output);
    if (gltf && !folder && paths->size() > 1) return one_file(*paths);
    auto plan = Outputs::plan(common, *paths, "." + to_);
    if (!plan) return report_error(plan.error(), common);
    std::size_t i = 0;
    return run_inputs(report_to_stdout(), model_, Identify::yes,
                      [&](const Input& in, Json& report) -> Result<void> {
                        while ((*paths)[i] != in.path) ++i;
                        if (!gltf) return same_format(in, plan->of(i), report);
                        if (in.format->list != nullptr && folder) return each(in, report);
                        auto scene = read(in);
                        if (!scene) return tl::unexpected(scene.error());
                        return write(*scene, plan->of(i), report);
                      });
  }

 private:
  struct Scene {
    std::vector<Reduced> clips;
    std::optional<Model> model;  // of the input itself
  };
  // What is ready to be written.
  struct Made {
    Gltf gltf;
    std::string text;  // for the terminal
    Json report;
  };

  // A report on standard output would end up inside the file.
  Common report_to_stdout() const {
    Common common = options_.common;
    if (common.output == "-") common.json = false;
    return common;
  }

  int poses() {
    if (options_.to.empty() && io::file_extension(options_.common.output).empty()) {
      return report_error(usage_error("name a file, or say --to"));
    }
    SampleOptions s;
    s.common = options_.common;
    s.common.json = to_ == "json";
    s.fps = options_.fps;
    s.gltf_space = true;
    return sample(s);
  }

  // The .bin beside a .gltf has a name that nobody typed: it must not be an input's.
  static std::string buffer_of(const std::string& output) {
    return io::join_path(io::folder_of(output), io::file_stem(output) + ".bin");
  }
  Result<void> buffer_is_free(const std::string& output) const {
    const std::string buffer = buffer_of(output);
    const auto is_buffer = [&](const std::string& path) {
      return path != "-" && !path.empty() && io::same_file(buffer, split_input(path).first);
    };
    if (is_buffer(options_.common.skeleton) || is_buffer(output) ||
        std::any_of(inputs_.begin(), inputs_.end(), is_buffer)) {
      return tl::unexpected(usage_error(fmt::format(
          "the buffer of {} would overwrite {}; name the .gltf otherwise", output, buffer)));
    }
    return {};
  }

  Result<void> same_format(const Input& in, const std::string& output, Json& report) const {
    const std::string extension = "." + to_;
    const std::string_view list = in.format->extensions;
    if (extension.empty() || (std::string(list) + " ").find(extension + " ") == std::string::npos) {
      return tl::unexpected(
          Error{Code::cannot_represent,
                0,
                {},
                fmt::format("a {} cannot be written as {}; glb, gltf, json and csv can",
                            in.format->title, extension)});
    }
    const auto json =
        in.format->to_json(in.bytes, in.options);  // the whole path, not a copy of the bytes
    if (!json) return tl::unexpected(json.error());
    const auto bytes = in.format->from_json(*json, in.options);
    if (!bytes) return tl::unexpected(bytes.error());
    report["output"] = shown(output);
    report["identical"] = *bytes == in.bytes;
    return write_output(output, *bytes);
  }

  Result<Scene> read(const Input& in) const {
    Scene scene;
    if (in.format->model != nullptr) {
      auto model = in.format->model(in.bytes, in.options);
      if (!model) return tl::unexpected(model.error());
      scene.model = std::move(*model);
    }
    if (in.format->clips != nullptr) {
      const auto clips = in.format->clips(in.bytes, in.options);
      if (!clips) return tl::unexpected(clips.error());
      const auto done = in_order(
          options_.jobs, clips->size(), clips->make, [&](std::size_t, Result<Reduced> made) {
            return made.map([&](Reduced& r) { scene.clips.push_back(std::move(r)); });
          });
      if (!done) return tl::unexpected(done.error());
    }
    return scene;
  }

  // All clips, with the one skeleton, in one file.
  int one_file(const std::vector<std::string>& paths) {
    Scene all;
    Json report;
    for (const std::string& path : paths) report["files"].push_back(shown(path));
    const bool json = options_.common.json && options_.common.output != "-";
    const auto fail = [&](Error e, const std::string& path) {
      if (e.file.empty()) e.file = path;
      report["error"] = to_report(e);
      if (json) print_json(report);
      return report_error(e);
    };
    for (const std::string& path : paths) {
      auto in = read_input(path, options_.common, model_, Identify::yes);
      if (!in) return fail(in.error(), path);
      auto scene = read(*in);
      if (!scene) return fail(scene.error(), path);
      if (scene->model && all.model)
        return fail(usage_error("two meshes in one file; convert them one by one"), path);
      if (scene->model) all.model = std::move(scene->model);
      for (Reduced& c : scene->clips) all.clips.push_back(std::move(c));
    }
    const auto done = write(all, options_.common.output, report);
    if (!done) return fail(done.error(), {});
    if (json) print_json(report);
    return Exit::ok;
  }

  // A bank into a folder: a file for each of its motions.
  Result<void> each(const Input& in, Json& report) {
    const auto clips = in.format->clips(in.bytes, in.options);
    if (!clips) return tl::unexpected(clips.error());
    std::vector<std::string> outputs;
    for (const std::string& name : clips->names) outputs.push_back(output_of(name));
    Progress progress(clips->size(), !options_.common.json);
    return in_order(
        options_.jobs, clips->size(),
        [&](std::size_t i) {
          return clips->make(i).and_then([&](Reduced clip) {
            Scene one;
            one.clips.push_back(std::move(clip));
            return made(one, outputs[i]);
          });
        },
        [&](std::size_t i, Result<Made> made) -> Result<void> {
          progress.clear();
          if (!made) return tl::unexpected(made.error());
          auto stored = store(*made, outputs[i], report);
          progress.at(i + 1);
          return stored;
        });
  }

  // A file in the folder, of a name that no other motion has on any file system.
  std::string output_of(const std::string& clip) {
    const std::string name = plain_name(clip);
    std::string unique = name;
    const auto lower = [](std::string s) {  // some file systems do not tell A from a
      for (char& c : s) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      return s;
    };
    for (int n = 2; !used_.insert(lower(unique)).second; ++n)
      unique = fmt::format("{}-{}", name, n);
    return io::join_path(options_.common.output, unique + "." + to_);
  }

  Result<void> write(const Scene& scene, const std::string& output, Json& report) {
    return made(scene, output).and_then([&](const Made& m) { return store(m, output, report); });
  }

  // Touches nothing but its result: several threads make at once.
  Result<Made> made(const Scene& scene, const std::string& output) const {
    const Model* model = scene.model ? &*scene.model : model_;
    GltfOptions gltf_options;
    gltf_options.separate_buffer = to_ == "gltf";
    gltf_options.buffer_name = io::file_stem(output) + ".bin";
    if (gltf_options.separate_buffer && output == "-") {
      return tl::unexpected(
          usage_error("a .gltf has a second file; write a .glb to standard output"));
    }
    if (gltf_options.separate_buffer) {
      if (auto r = buffer_is_free(output); !r) return tl::unexpected(r.error());
    }
    gltf_options.bake.rate = options_.bake_rate;
    gltf_options.bake.max_mm = options_.max_mm;
    gltf_options.bake.max_degrees = options_.max_degrees;
    gltf_options.bake.limits = options_.common.limits;
    if (options_.visibility == "extension") gltf_options.visibility = GltfVisibility::extension;
    std::vector<Clip> clips;
    clips.reserve(scene.clips.size());
    for (const Reduced& r : scene.clips) clips.push_back(r.clip);
    auto gltf = to_gltf(clips, model, gltf_options);
    if (!gltf) return tl::unexpected(gltf.error());
    Made m;
    m.gltf = std::move(*gltf);
    m.text = fmt::format("{}: {} bytes, {}\n", output, m.gltf.file.size() + m.gltf.buffer.size(),
                         model == nullptr ? "no mesh"
                                          : fmt::format("{} joints, {} meshes", model->nodes.size(),
                                                        model->meshes.size()));
    for (std::size_t i = 0; i < m.gltf.clips.size(); ++i) {
      describe(m.gltf.clips[i], scene.clips[i],
               model != nullptr ? resting(scene.clips[i].clip) : "", m);
    }
    return m;
  }

  Result<void> store(const Made& m, const std::string& output, Json& report) const {
    if (to_ == "gltf") {
      if (auto r = write_output(buffer_of(output), m.gltf.buffer); !r) return r;
    }
    if (auto r = write_output(output, m.gltf.file); !r) return r;
    report["output"] = shown(output);
    report["bytes"] = m.gltf.file.size() + m.gltf.buffer.size();
    for (const Json& clip : m.report) report["clips"].push_back(clip);
    say(m.text);
    return {};
  }

  // The joints of the character that a clip has nothing for, by name.
  static std::string resting(const Clip& clip) {
    std::vector<bool> moved(clip.nodes.size());
    for (const Track& t : clip.tracks) {
      if (t.channel != Channel::weight && t.target < moved.size()) moved[t.target] = true;
    }
    std::string out;
    for (std::size_t i = 0; i < moved.size(); ++i) {
      if (!moved[i]) out += (out.empty() ? "" : ", ") + io::escape_bytes(clip.nodes[i].name);
    }
    return out;
  }

  static Json error_of(const ErrorReport& e) {
    return {{"max_mm", number(e.max_mm)},
            {"p99_mm", number(e.p99_mm)},
            {"max_degrees", number(e.max_degrees)},
            {"p99_degrees", number(e.p99_degrees)}};
  }
  static std::string error_text(const ErrorReport& e) {
    return fmt::format("error {:.3g} mm (99 % below {:.3g}), {:.3g} degrees", e.max_mm, e.p99_mm,
                       e.max_degrees);
  }

  static void describe(const GltfReport& r, const Reduced& made, const std::string& resting,
                       Made& out) {
    Json clip;
    clip["clip"] = r.clip;
    std::string text;
    if (made.keys_before != made.keys_after) {
      text += fmt::format("solved, {} keys to {}; {}", made.keys_before, made.keys_after,
                          error_text(made.error));
      clip["solved"] = {{"keys_before", made.keys_before},
                        {"keys_after", made.keys_after},
                        {"error", error_of(made.error)}};
    }
    const auto& b = r.baked;
    clip["baked_tracks"] = b.tracks;
    if (b.tracks != 0) {
      text += fmt::format("{}{} rotations baked, {} keys to {}; {}", text.empty() ? "" : "; ",
                          b.tracks, b.keys_before, b.keys_after, error_text(b.error));
      clip["keys_before"] = b.keys_before;
      clip["keys_after"] = b.keys_after;
      clip["error"] = error_of(b.error);
    }
    out.text += fmt::format("  {}: {}\n", r.clip, text.empty() ? "every curve exact" : text);
    if (!resting.empty()) {
      clip["resting"] = resting;
      out.text +=
          fmt::format("  {}: warning: no tracks for {}: the rest pose stays\n", r.clip, resting);
    }
    clip["losses"] = Json::array();
    for (const Loss& l : r.losses) {
      out.text += fmt::format("  {}: {}: {}\n", r.clip, l.path, l.text);
      clip["losses"].push_back({{"path", l.path}, {"text", l.text}});
    }
    out.report.push_back(std::move(clip));
  }

  void say(const std::string& text) const {
    if (!options_.common.json && options_.common.output != "-") print(text);
  }

  const ConvertOptions& options_;
  const Model* model_;
  std::string to_;
  std::vector<std::string> inputs_;
  std::set<std::string> used_;  // names of files that motions of banks went to
};

}  // namespace

int convert(const ConvertOptions& options) {
  const auto model = read_skeleton(options.common);
  if (!model) return report_error(model.error());
  return Converter(options, *model).run();
}

}  // namespace cli
