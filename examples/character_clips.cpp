// The three clips. Key times are frames of 1/30 s, as on an animator's dope sheet; turns are degrees.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "character.hpp"

namespace example {
namespace {

constexpr int frames_per_second = 30, first_frame = 1;  // every clip of the game starts at frame 1
constexpr int ticks_per_frame = rfa::ticks_per_second / frames_per_second;
constexpr float smooth = 63.0F / 127;  // ease on both sides of a segment: nearly half a cosine wave

double seconds(int frame) { return static_cast<double>(first_frame + frame) / frames_per_second; }

// Turns about the axes of the parent. The space is left-handed, the formulas are the usual ones:
// x > 0 bows forward, swings a leg or an arm back and bends a knee; y > 0 looks right; z > 0 lifts the
// right arm sideways.
Quat turn(Vec3 axis, double degrees) {
  const double half = degrees / 360 * std::numbers::pi;
  const auto grid = [](double v) { return static_cast<float>(rounded(v, 1e-6)); };
  const float s = grid(std::sin(half)), c = grid(std::cos(half));
  return normalize({axis.x * s, axis.y * s, axis.z * s, c});
}
Quat about_x(double degrees) { return turn({1, 0, 0}, degrees); }
Quat about_y(double degrees) { return turn({0, 1, 0}, degrees); }
Quat about_z(double degrees) { return turn({0, 0, 1}, degrees); }

struct Turn {
  int frame;
  Quat rotation;
};
struct Move {
  int frame;
  Vec3 position;
  Vec3 velocity;  // metres per second
};

Clip make_clip(std::span<const Node> skeleton, const char* name, int frames) {
  Clip clip;
  clip.name = name;
  clip.start = seconds(0);
  clip.end = seconds(frames);
  clip.ticks_per_second = rfa::ticks_per_second;
  clip.frames_per_second = frames_per_second;
  clip.space = Space::left_handed;
  clip.nodes.assign(skeleton.begin(), skeleton.end());
  return clip;
}

// Keys of plain slerp; with an ease, the bone slows down before and after each of them.
void add(Clip& clip, Bone bone, const std::vector<Turn>& keys, float ease = 0) {
  Curve<Quat> c;
  for (const Turn& k : keys) {
    c.times.push_back(seconds(k.frame));
    c.values.push_back(k.rotation);
    if (ease > 0) c.params.push_back({ease, ease});
  }
  if (ease > 0) c.interp = Interp::slerp_ease;
  clip.tracks.push_back({bone, Channel::rotation, {}, std::move(c), {}});
}

Curve<Vec3> bezier(const std::vector<Move>& keys) {
  Curve<Vec3> c;
  c.interp = Interp::bezier;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto [frame, position, velocity] = keys[i];
    const auto third = [&](int to) {  // of the way to another key, at this key's velocity
      const auto dt = static_cast<float>(to - frame) / frames_per_second;
      const Vec3 p = position + (dt / 3) * velocity;
      const auto grid = [](float v) { return static_cast<float>(rounded(v, 1e-4)); };
      return Vec3{grid(p.x), grid(p.y), grid(p.z)};
    };
    c.times.push_back(seconds(frame));
    c.values.push_back(position);
    c.in.push_back(third(i > 0 ? keys[i - 1].frame : frame));
    c.out.push_back(third(i + 1 < keys.size() ? keys[i + 1].frame : frame));
  }
  return c;
}
void add(Clip& clip, Bone bone, Curve<Vec3> curve) {
  clip.tracks.push_back({bone, Channel::translation, {}, std::move(curve), {}});
}

// Bones without tracks keep their rest pose; from_clip spells that out.
Result<Animation> make_animation(const Clip& clip) {
  Animation out{clip.name, {}};
  const auto losses = rfa::from_clip(clip, out.file);
  if (!losses) return tl::unexpected(losses.error());
  for (const Loss& l : *losses) {
    return tl::unexpected(Error{Code::cannot_represent, 0, l.path, l.text, clip.name});
  }
  return out;
}

// ---- walking, on the spot: the ground runs back at 1 m/s

constexpr int cycle = 30;  // frames; the right side does what the left side did half a cycle ago

// Where the left foot is, ten times a cycle: strikes with the heel, flat, rolls over the ball, swings.
struct Step {
  double forward, height;  // of the ankle, metres
  double pitch;            // of the foot, degrees; toes down
};
constexpr std::array<Step, 10> steps{{{0.269, 0.103, -18},
                                      {0.2, 0.09, 0},
                                      {0.1, 0.09, 0},
                                      {0, 0.09, 0},
                                      {-0.1, 0.09, 0},
                                      {-0.17, 0.121, 16},
                                      {-0.218, 0.152, 38},
                                      {-0.12, 0.19, 48},
                                      {0.06, 0.155, 18},
                                      {0.22, 0.125, -8}}};

double phase_of(int frame) { return 2 * std::numbers::pi * frame / cycle; }
double hips_yaw(int frame) { return rounded(6 * std::cos(phase_of(frame)), 0.01); }
double hips_roll(int frame) { return rounded(-3 * std::sin(phase_of(frame)), 0.01); }
Quat hips_turn(int frame) { return about_y(hips_yaw(frame)) * about_z(hips_roll(frame)); }

struct Leg {
  Quat thigh, shin, foot;  // in model space
};
// Two bones from the hip joint to the ankle, with the knee in front.
Leg reach(Vec3 hip, Vec3 ankle, double thigh, double shin, double pitch) {
  const Vec3 way = ankle - hip;
  const double sideways = std::atan2(way.x, -way.y), down = std::hypot(way.x, way.y);
  const double longest = 0.999 * (thigh + shin);
  const double distance = std::min(std::hypot(down, way.z), longest);
  const auto corner = [](double a, double b, double opposite) {
    return std::acos((a * a + b * b - opposite * opposite) / (2 * a * b));
  };
  const double back = std::atan2(-way.z, down) - corner(thigh, distance, shin);
  const double knee = std::numbers::pi - corner(thigh, shin, distance);
  const auto degrees = [](double angle) { return rounded(angle / std::numbers::pi * 180, 0.01); };
  const Quat plane = about_z(degrees(sideways));
  return {plane * about_x(degrees(back)), plane * about_x(degrees(back + knee)), about_x(pitch)};
}

void add_leg(Clip& clip, const Curve<Vec3>& hips_path, int side) {
  const Bone thigh = on_side(side, thigh_l, thigh_r), shin = on_side(side, shin_l, shin_r);
  const Bone foot = on_side(side, foot_l, foot_r);
  std::vector<Turn> thigh_keys, shin_keys, foot_keys;
  for (int k = 0; k <= 10; ++k) {
    const int frame = k * cycle / 10;
    std::uint32_t hint = 0;
    const Transform pelvis{evaluate(hips_path, seconds(frame), hint), hips_turn(frame), {1, 1, 1}};
    const Step& step = steps[static_cast<std::size_t>(k + (side > 0 ? 5 : 0)) % 10];
    const Vec3 ankle{0.085F * static_cast<float>(side), static_cast<float>(step.height),
                     static_cast<float>(step.forward)};
    const Leg leg = reach((pelvis * clip.nodes[thigh].rest).translation, ankle,
                          length(clip.nodes[shin].rest.translation),
                          length(clip.nodes[foot].rest.translation), step.pitch);
    thigh_keys.push_back({frame, conjugate(pelvis.rotation) * leg.thigh});
    shin_keys.push_back({frame, conjugate(leg.thigh) * leg.shin});
    foot_keys.push_back({frame, conjugate(leg.shin) * leg.foot});
  }
  add(clip, thigh, thigh_keys);
  add(clip, shin, shin_keys);
  add(clip, foot, foot_keys);
}

// An arm that hangs, swung forward and with the elbow bent.
Quat hanging(int side, double forward = 0, double away = 9) {
  return about_z(side * away) * about_x(-forward);
}

}  // namespace

Result<Animation> walk(std::span<const Node> skeleton) {
  Clip clip = make_clip(skeleton, "walker_walk", cycle);
  // Low when both feet are down, high and over the standing leg when one is.
  constexpr float low = 0.862F, high = 0.886F, sway = 0.02F, speed = 0.126F;
  const Curve<Vec3> path = bezier({{0, {0, low, 0}, {-speed, 0, 0}},
                                   {8, {-sway, high, 0.006F}, {0, 0, 0}},
                                   {15, {0, low, 0}, {speed, 0, 0}},
                                   {23, {sway, high, 0.006F}, {0, 0, 0}},
                                   {30, {0, low, 0}, {-speed, 0, 0}}});
  add(clip, hips, path);
  std::vector<Turn> pelvis, waist;  // the waist undoes what the hips do
  for (int frame = 0; frame <= cycle; frame += 3) {
    pelvis.push_back({frame, hips_turn(frame)});
    waist.push_back({frame, about_z(-hips_roll(frame)) * about_y(-hips_yaw(frame)) * about_x(3)});
  }
  add(clip, hips, pelvis);
  add(clip, spine, waist);
  for (const int side : {-1, 1}) add_leg(clip, path, side);

  // From here up, one pose and its mirror image; easing makes the swing.
  const auto swing = [&](Bone bone, Quat a, Quat b) {
    add(clip, bone, {{0, a}, {15, b}, {30, a}}, smooth);
  };
  swing(chest, about_y(-6) * about_x(2), about_y(6) * about_x(2));
  swing(head, about_y(6) * about_x(-5), about_y(-6) * about_x(-5));
  for (const int side : {-1, 1}) {
    const Quat back = hanging(side, -24), front = hanging(side, 23);
    const Quat straight = about_x(-13), bent = about_x(-36);
    const bool starts_back = side < 0;  // the left leg starts in front
    swing(on_side(side, upperarm_l, upperarm_r), starts_back ? back : front,
          starts_back ? front : back);
    swing(on_side(side, forearm_l, forearm_r), starts_back ? straight : bent,
          starts_back ? bent : straight);
  }
  return make_animation(clip);
}

Result<Animation> wave(std::span<const Node> skeleton) {
  constexpr int frames = 45;
  Clip clip = make_clip(skeleton, "walker_wave", frames);
  // The upper arm goes up and turns its elbow, so that the forearm swings from side to side.
  const Quat down = hanging(1), up = about_z(78) * about_y(80) * about_x(-4);
  add(clip, upperarm_r, {{0, down}, {10, up}, {34, up}, {frames, down}}, smooth);
  const auto elbow = [](double degrees) { return about_x(-degrees); };
  add(clip, forearm_r,
      {{0, elbow(12)},
       {9, elbow(96)},
       {14, elbow(52)},
       {19, elbow(106)},
       {24, elbow(52)},
       {29, elbow(106)},
       {34, elbow(80)},
       {frames, elbow(12)}},
      smooth);
  add(clip, hand_r,
      {{0, about_x(0)},
       {11, about_x(-14)},
       {16, about_x(16)},
       {21, about_x(-16)},
       {26, about_x(16)},
       {31, about_x(-14)},
       {frames, about_x(0)}},
      smooth);
  const auto lean = [&](Bone bone, Quat from, Quat to) {
    add(clip, bone, {{0, from}, {11, to}, {33, to}, {frames, from}}, smooth);
  };
  lean(upperarm_l, hanging(-1), hanging(-1, -6, 13));
  lean(forearm_l, about_x(-12), about_x(-20));
  lean(chest, about_x(0), about_z(4) * about_y(-6));
  lean(head, about_x(0), about_z(-8) * about_y(8) * about_x(-4));

  auto out = make_animation(clip);
  if (!out) return out;
  // As an action it takes over the right arm, and only hints at the rest.
  for (std::size_t i = 0; i < out->file.bones.size(); ++i) {
    out->file.bones[i].weight = i == upperarm_r || i == forearm_r || i == hand_r ? 10.0F : 2.0F;
  }
  out->file.ramp_in = 5 * ticks_per_frame;
  out->file.ramp_out = 7 * ticks_per_frame;
  return out;
}

namespace {

struct Shape {
  int frame;
  Expression expression;
};

// Morphs are no curves of bones: they go into the file as it is stored.
void add_face(rfa::File& file, const std::vector<Shape>& shapes) {
  file.num_morph_keyframes = static_cast<std::int32_t>(shapes.size());
  file.morph_box_min = face_box_min;
  file.morph_box_max = face_box_max;
  for (std::size_t i = 0; i < face({}).size(); ++i) {
    file.morph_vertices.push_back(static_cast<std::uint16_t>(i));
  }
  const auto to_byte = [](float v, float low, float high) {
    return static_cast<std::uint8_t>(
        std::clamp(std::lround((v - low) / (high - low) * 255), 0L, 255L));
  };
  for (const Shape& s : shapes) {
    file.morph_times.push_back((first_frame + s.frame) * ticks_per_frame);
    for (const Vec3 p : face(s.expression)) {
      file.morph_positions8.push_back({to_byte(p.x, face_box_min[0], face_box_max[0]),
                                       to_byte(p.y, face_box_min[1], face_box_max[1]),
                                       to_byte(p.z, face_box_min[2], face_box_max[2])});
    }
  }
  rfa::layout(file);
}

}  // namespace

Result<Animation> talk(std::span<const Node> skeleton) {
  constexpr int frames = 75;
  Clip clip = make_clip(skeleton, "walker_talk", frames);
  const Quat still = about_x(0);
  add(clip, head,
      {{0, still},
       {14, about_y(9) * about_x(5)},
       {28, about_y(6) * about_x(-4)},
       {42, about_y(-10) * about_x(4)},
       {58, about_y(-4) * about_x(7)},
       {frames, still}},
      smooth);
  add(clip, chest, {{0, still}, {30, about_y(5)}, {50, about_y(-5)}, {frames, still}}, smooth);
  for (const int side : {-1, 1}) {  // the hands underline a word each
    const int at = side < 0 ? 36 : 8;
    const Quat down = hanging(side), up = hanging(side, 16, 16);
    add(clip, on_side(side, upperarm_l, upperarm_r),
        {{0, down}, {at, down}, {at + 10, up}, {at + 18, up}, {at + 30, down}, {frames, down}},
        smooth);
    const Quat low = about_x(-12), raised = about_z(side * -14) * about_x(-72);
    add(clip, on_side(side, forearm_l, forearm_r),
        {{0, low}, {at, low}, {at + 10, raised}, {at + 18, raised}, {at + 30, low}, {frames, low}},
        smooth);
  }
  auto out = make_animation(clip);
  if (!out) return out;
  for (rfa::Bone& b : out->file.bones) b.weight = 5;
  out->file.ramp_in = out->file.ramp_out = 3 * ticks_per_frame;
  // Open, wide, blink, brows.
  add_face(out->file, {{0, {}},
                       {6, {0.9, -0.1, 0, 0.5}},
                       {10, {0.3, 0.4, 0, 0.5}},
                       {14, {0.7, -0.7, 0, 0.2}},
                       {18, {0.1, 0.2, 0, 0}},
                       {21, {0.2, 0.4, 1, -0.3}},
                       {24, {0.6, 0.6, 0, 0}},
                       {29, {0, 0, 0, 0}},
                       {34, {0, -0.2, 0, 0.8}},
                       {38, {1, 0, 0, 1}},
                       {42, {0.4, 0.7, 0, 0.6}},
                       {46, {0.8, -0.6, 0, 0.3}},
                       {50, {0.2, 0.3, 0, 0}},
                       {54, {0.9, 0.2, 0, 0}},
                       {59, {0, 0.5, 0, 0}},
                       {63, {0, 0.6, 1, -0.2}},
                       {66, {0, 0.6, 0, 0}},
                       {frames, {}}});
  return out;
}

}  // namespace example
