// dopesheet convert: to glTF, to poses as JSON or CSV, or to the same format again.
#include <fmt/format.h>

#include "cli.hpp"
#include "io/file.hpp"

namespace cli {
namespace {

class Converter {
 public:
  Converter(const ConvertOptions& options, const std::optional<Model>& model)
      : options_(options), model_(model ? &*model : nullptr) {}

  int run() {
    const Common& common = options_.common;
    if (common.output.empty())
      return report_error(usage_error("convert needs -o with a file, a folder or -"));
    const std::string extension = io::file_extension(common.output);
    to_ = !options_.to.empty() ? options_.to : extension.empty() ? "glb" : extension.substr(1);
    if (to_ == "json" || to_ == "csv") return poses();
    const auto paths = expand_inputs(common);
    if (!paths) return report_error(paths.error());
    const bool gltf = to_ == "glb" || to_ == "gltf";
    const bool folder = common.output.ends_with('/') || io::is_folder(common.output);
    if (gltf && !folder && paths->size() > 1) return one_file(*paths);
    auto plan = Outputs::plan(common, *paths, "." + to_);
    if (!plan) return report_error(plan.error());
    std::size_t i = 0;
    return run_inputs(report_to_stdout(), model_, Identify::yes,
                      [&](const Input& in, Json& report) -> Result<void> {
                        while ((*paths)[i] != in.path) ++i;
                        if (!gltf) return same_format(in, plan->of(i), report);
                        auto scene = read(in);
                        if (!scene) return tl::unexpected(scene.error());
                        if (in.format->list != nullptr && folder) return each(*scene, report);
                        return write(std::move(*scene), plan->of(i), report);
                      });
  }

 private:
  struct Scene {
    std::vector<Clip> clips;
    std::optional<Model> model;  // of the input itself
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

  static Result<void> same_format(const Input& in, const std::string& output, Json& report) {
    const std::string extension = io::file_extension(output);
    const std::string_view list = in.format->extensions;
    if (extension.empty() || (std::string(list) + " ").find(extension + " ") == std::string::npos) {
      return tl::unexpected(
          Error{Code::cannot_represent,
                0,
                {},
                fmt::format("a {} cannot be written as {}; glb, gltf, json and csv can",
                            in.format->title, extension.empty() ? "that" : extension)});
    }
    const auto json =
        in.format->to_json(in.bytes, in.options);  // the whole path, not a copy of the bytes
    if (!json) return tl::unexpected(json.error());
    const auto bytes = in.format->from_json(*json, in.options);
    if (!bytes) return tl::unexpected(bytes.error());
    report["output"] = output;
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
      auto clips = in.format->clips(in.bytes, in.options);
      if (!clips) return tl::unexpected(clips.error());
      scene.clips = std::move(*clips);
    }
    return scene;
  }

  // All clips, with the one skeleton, in one file.
  int one_file(const std::vector<std::string>& paths) {
    Scene all;
    Json report;
    report["files"] = paths;
    const auto fail = [](Error e, const std::string& path) {
      if (e.file.empty()) e.file = path;
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
      for (Clip& c : scene->clips) all.clips.push_back(std::move(c));
    }
    const auto done = write(std::move(all), options_.common.output, report);
    if (!done) return report_error(done.error());
    if (options_.common.json && options_.common.output != "-") print(report.dump(2) + "\n");
    return Exit::ok;
  }

  // A bank into a folder: a file for each of its motions.
  Result<void> each(Scene& scene, Json& report) {
    for (Clip& clip : scene.clips) {
      Scene one;
      const std::string path = io::join_path(options_.common.output, clip.name + "." + to_);
      one.clips.push_back(std::move(clip));
      if (auto r = write(std::move(one), path, report); !r) return r;
    }
    return {};
  }

  Result<void> write(Scene scene, const std::string& output, Json& report) {
    const Model* model = scene.model ? &*scene.model : model_;
    GltfOptions gltf_options;
    gltf_options.separate_buffer = to_ == "gltf";
    const std::string buffer = io::file_stem(output) + ".bin";
    gltf_options.buffer_name = buffer;
    if (gltf_options.separate_buffer && output == "-") {
      return tl::unexpected(
          usage_error("a .gltf has a second file; write a .glb to standard output"));
    }
    gltf_options.bake.rate = options_.bake_rate;
    gltf_options.bake.max_mm = options_.max_mm;
    gltf_options.bake.max_degrees = options_.max_degrees;
    gltf_options.bake.limits = options_.common.limits;
    const auto gltf = to_gltf(scene.clips, model, gltf_options);
    if (!gltf) return tl::unexpected(gltf.error());
    if (gltf_options.separate_buffer) {
      const auto slash = output.find_last_of('/');
      const std::string folder = slash == output.npos ? "" : output.substr(0, slash + 1);
      if (auto r = write_output(folder + buffer, gltf->buffer); !r) return r;
    }
    if (auto r = write_output(output, gltf->file); !r) return r;
    report["output"] = output;
    report["bytes"] = gltf->file.size() + gltf->buffer.size();
    say(fmt::format("{}: {} bytes, {}\n", output, gltf->file.size() + gltf->buffer.size(),
                    model == nullptr ? "no mesh"
                                     : fmt::format("{} joints, {} meshes", model->nodes.size(),
                                                   model->meshes.size())));
    for (const GltfReport& r : gltf->clips) describe(r, report);
    return {};
  }

  void describe(const GltfReport& r, Json& report) {
    Json clip;
    clip["clip"] = r.clip;
    const auto& b = r.baked;
    clip["baked_tracks"] = b.tracks;
    std::string text = fmt::format("  {}: ", r.clip);
    if (b.tracks == 0) {
      text += "every curve exact\n";
    } else {
      text += fmt::format(
          "{} rotations with eases baked, {} keys to {}; error {:.3g} mm (99 % below {:.3g}), "
          "{:.3g} degrees\n",
          b.tracks, b.keys_before, b.keys_after, b.error.max_mm, b.error.p99_mm,
          b.error.max_degrees);
      clip["keys_before"] = b.keys_before;
      clip["keys_after"] = b.keys_after;
      clip["error"] = {{"max_mm", number(b.error.max_mm)},
                       {"p99_mm", number(b.error.p99_mm)},
                       {"max_degrees", number(b.error.max_degrees)},
                       {"p99_degrees", number(b.error.p99_degrees)}};
    }
    clip["losses"] = Json::array();
    for (const Loss& l : r.losses) {
      text += fmt::format("  {}: {}: {}\n", r.clip, l.path, l.text);
      clip["losses"].push_back({{"path", l.path}, {"text", l.text}});
    }
    say(text);
    report["clips"].push_back(std::move(clip));
  }

  void say(const std::string& text) const {
    if (!options_.common.json && options_.common.output != "-") print(text);
  }

  const ConvertOptions& options_;
  const Model* model_;
  std::string to_;
};

}  // namespace

int convert(const ConvertOptions& options) {
  const auto model = read_skeleton(options.common);
  if (!model) return report_error(model.error());
  return Converter(options, *model).run();
}

}  // namespace cli
