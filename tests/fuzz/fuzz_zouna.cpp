// Zouna animations: read, check, play, export, write, read again.
#include "whole_path.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dopesheet;
  const ByteView in(reinterpret_cast<const std::byte*>(data), size);
  zouna::probe(in);
  const auto file = zouna::read(in);
  if (!file) {
    promise(file.error().offset <= size && !file.error().text.empty(), "errors say where and what");
    return 0;
  }
  promise(*zouna::write(*file) == Bytes(in.begin(), in.end()), "an untouched file comes back");
  promise(*zouna::write(*zouna::from_json(zouna::to_json(*file))) == *zouna::write(*file),
          "also through JSON");
  promise(!zouna::dump(*file).empty(), "it can be shown");
  zouna::Options options;
  for (const auto meaning :
       {zouna::BezierMeaning::raw, zouna::BezierMeaning::vector, zouna::BezierMeaning::euler}) {
    options.bezier_rotation = meaning;
    play_and_export(zouna::to_clip(*file, options), nullptr);
  }
  zouna::check(*file);
  zouna::File back = *file;
  const auto losses = zouna::from_clip(zouna::to_clip(*file, options), back, options);
  promise(losses && losses->empty(), "an untouched clip is written back");
  promise(*zouna::write(back) == *zouna::write(*file), "without a change");
  std::vector<Transform> pose(file->body.nodes.size());
  zouna::EngineCursor cursor;
  for (const float t : {0.F, 0.5F, 0.25F, -1.F})
    zouna::sample_exact(*file, options, t, cursor, pose);
  zouna::File laid_out = *file;
  zouna::layout(laid_out);
  const auto canonical = zouna::write(laid_out);
  promise(canonical && zouna::read(*canonical), "a laid out file reads");
  return 0;
}
