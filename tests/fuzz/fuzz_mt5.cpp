// Shenmue models, MT5 and MT7: read, check, rig, export, write, read again.
#include "whole_path.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dopesheet;
  const ByteView in(reinterpret_cast<const std::byte*>(data), size);
  const Format* format = mt5::probe(in) ? find_format("mt5") : find_format("mt7");
  const ReadOptions options;
  const auto model = format->model(in, options);
  if (!model) {
    promise(model.error().offset <= size && !model.error().text.empty(),
            "errors say where and what");
    return 0;
  }
  const auto json = format->to_json(in, options);
  promise(json && *format->from_json(*json, options) == Bytes(in.begin(), in.end()),
          "an untouched file comes back");
  promise(format->dump(in, options) && format->check(in, options) && format->info(in, options),
          "it can be shown and checked");
  shenmue::rig_from_model(model->nodes);
  if (model->nodes.size() > 200) return 0;
  const auto gltf = to_gltf({}, &*model);
  promise(gltf || !gltf.error().text.empty(), "an error has a text");
  return 0;
}
