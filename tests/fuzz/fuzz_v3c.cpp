// Red Faction meshes: read, check, build the model, export, write, read again.
#include "whole_path.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dopesheet;
  const ByteView in(reinterpret_cast<const std::byte*>(data), size);
  const auto file = v3c::read(in);
  if (!file) {
    promise(file.error().offset <= size && !file.error().text.empty(), "errors say where and what");
    return 0;
  }
  promise(*v3c::write(*file) == Bytes(in.begin(), in.end()), "an untouched file comes back");
  promise(*v3c::write(*v3c::from_json(v3c::to_json(*file))) == *v3c::write(*file),
          "also through JSON");
  promise(!v3c::dump(*file).empty(), "it can be shown");
  v3c::check(*file);
  v3c::File again = *file;
  v3c::layout(again);
  const auto laid_out = v3c::write(again);
  promise(laid_out && v3c::read(*laid_out), "a laid out file reads");
  const auto model = v3c::to_model(*file, "fuzz");
  if (!model) {
    promise(!model.error().text.empty(), "an error has a text");
    return 0;
  }
  Clip clip;
  clip.space = model->space;
  clip.nodes = model->nodes;
  play_and_export(clip, &*model);
  return 0;
}
