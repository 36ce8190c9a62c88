// TotemTech animations: read, check, play, export, write, read again; and skeleton blocks.
#include "whole_path.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dopesheet;
  const ByteView in(reinterpret_cast<const std::byte*>(data), size);
  for (const auto order : {std::endian::big, std::endian::little}) {
    const auto skeleton = totemtech::read_skeleton(in, order);
    promise(skeleton ? skeleton->bytes <= size : !skeleton.error().text.empty(),
            "bones end inside");
  }
  const auto file = totemtech::read(in);
  promise(!file || totemtech::probe(in) || size == 18, "what reads is recognised");
  if (!file) {
    promise(file.error().offset <= size && !file.error().text.empty(), "errors say where and what");
    return 0;
  }
  promise(*totemtech::write(*file) == Bytes(in.begin(), in.end()), "an untouched file comes back");
  const auto built = totemtech::from_json(totemtech::to_json(*file));
  promise(built && *totemtech::write(*built) == *totemtech::write(*file), "also through JSON");
  promise(!totemtech::dump(*file).empty(), "it can be shown");
  totemtech::check(*file);
  const Clip clip = totemtech::to_clip(*file);
  totemtech::File back = *file;
  const auto losses = totemtech::from_clip(clip, back);
  promise(losses && losses->empty(), "an untouched clip is written back");
  promise(*totemtech::write(back) == *totemtech::write(*file), "without a change");
  play_and_export(clip, nullptr);
  Clip edited = clip;
  for (Track& t : edited.tracks) {
    if (auto* q = std::get_if<Curve<Quat>>(&t.curve)) q->interp = Interp::step, q->params.clear();
  }
  totemtech::WriteOptions options;
  options.clamp = true;
  if (totemtech::from_clip(edited, back, options)) {
    const auto bytes = totemtech::write(back);
    promise(bytes && totemtech::read(*bytes), "an edited clip reads");
  }
  return 0;
}
