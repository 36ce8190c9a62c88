// Plays a GLB with three.js and compares it with what dopesheet sampled (dopesheet.sample/1).
//   node agree.mjs FILE.glb SAMPLE.json [--clip NAME] [--mm 0.01] [--deg 0.01] [--world]
// Compared: every sampled node's local translation, rotation and scale, morph weights, and with
// --world its position in the scene. Exit 1 when above a limit or when nothing was compared.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { AnimationMixer, LoopOnce, Matrix4, Quaternion, Vector3 } from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';

const ratioLimit = 1e-5;  // scale and weights, absolute
const unitLimit = 1e-3;   // how far a quaternion's length may be from 1

function fail(message) {
  throw new Error(message);
}

function readOptions() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      clip: { type: 'string' },
      mm: { type: 'string', default: '0.01' },
      deg: { type: 'string', default: '0.01' },
      world: { type: 'boolean', default: false },
    },
  });
  const [mm, deg] = [Number(values.mm || NaN), Number(values.deg || NaN)];
  if (positionals.length !== 2 || !(mm >= 0) || !(deg >= 0)) {
    fail('usage: agree.mjs FILE.glb SAMPLE.json [--clip NAME] [--mm 0.01] [--deg 0.01] [--world]');
  }
  return { glb: positionals[0], json: positionals[1], ...values, mm, deg };
}

// Refuses what a comparison would take for zero: null (JSON's NaN), short rows, no rows.
function readSample(path) {
  const sample = JSON.parse(readFileSync(path, 'utf8'));
  const { schema, space, start, nodes, frames } = sample;
  if (schema !== 'dopesheet.sample/1') fail(`sample: unknown schema ${schema}`);
  if (space !== 'gltf') fail(`sample: space is ${space}, not gltf`);
  if (!Number.isFinite(start)) fail('sample: start is not a number');
  const weightCount = frames[0]?.weights?.length ?? 0;
  for (const [k, { time, nodes: poses, weights = [] }] of frames.entries()) {
    if (poses.length !== nodes.length) fail(`sample: frame ${k} has ${poses.length} nodes`);
    if (poses.some((pose) => pose.length !== 10)) fail(`sample: frame ${k}: not 10 numbers a node`);
    if (weights.length !== weightCount) fail(`sample: frame ${k} has ${weights.length} weights`);
    if (![time, ...poses.flat(), ...weights].every(Number.isFinite)) {
      fail(`sample: frame ${k} holds something that is not a finite number`);
    }
  }
  if (frames.length * (nodes.length + weightCount) === 0) fail('nothing to compare');
  return { ...sample, weightCount };
}

async function openClip(path, clipName) {
  const gltf = await new GLTFLoader().parseAsync(new Uint8Array(readFileSync(path)).buffer, '');
  const { json } = gltf.parser;
  const animations = json.animations ?? [];
  const named = animations.filter((animation) => animation.name === clipName);
  if (named.length !== 1) fail(`${named.length} animations are named "${clipName}"`);
  return {
    parser: gltf.parser,
    json,
    root: gltf.scene ?? fail('the file has no scene'),
    clip: gltf.animations[animations.indexOf(named[0])],
    targets: named[0].channels.map((channel) => channel.target),
  };
}

async function objectOf({ parser, root }, index) {
  const object = await parser.getDependency('node', index);
  let top = object;
  while (top.parent) top = top.parent;
  return top === root ? object : fail(`glTF node ${index} is not in the scene`);
}

// The glTF node index of sample node i. Raw JSON names: three.js rewrites its own.
function findNode(defs, { name }, i) {
  const rules = [
    (def) => def.extras?.dopesheet_node === i,
    (def) => def.name === `${name}__rfbi${i}`,
    (def) => def.name === name,
  ];
  const rule = rules.find((matches) => defs.some(matches));
  if (!rule) fail(`no glTF node is "${name}" (${i})`);
  const found = [...defs.keys()].filter((k) => rule(defs[k]));
  return found.length === 1 ? found[0] : fail(`${found.length} glTF nodes are "${name}" (${i})`);
}

// One object for each sample node. Every animated target has to be sampled, or it goes unchecked.
async function bindNodes(file, sample) {
  const indices = sample.nodes.map((node, i) => findNode(file.json.nodes, node, i));
  if (new Set(indices).size !== indices.length) fail('two sample nodes are one glTF node');
  for (const { node, path } of file.targets) {
    if (path === 'pointer') continue;  // visibility, which no pose has
    const isSampled = path === 'weights' ? sample.weightCount > 0 : indices.includes(node);
    if (!isSampled) fail(`${path} of glTF node ${node} is animated but not sampled`);
  }
  return Promise.all(indices.map((index) => objectOf(file, index)));
}

// One entry for each morphing glTF node: its meshes (one a primitive) and how many weights it has.
// A frame's weights are these nodes' weights one after the other, in glTF node order.
async function bindMorphs(file, { weightCount }) {
  if (weightCount === 0) return [];
  const { json, targets, parser } = file;
  const animated = targets.filter((target) => target.path === 'weights').map(({ node }) => node);
  const morphs = [];
  for (const [index, { mesh }] of json.nodes.entries()) {
    const count = json.meshes?.[mesh]?.primitives[0].targets?.length ?? 0;
    if (count === 0 || (animated.length > 0 && !animated.includes(index))) continue;
    const object = await objectOf(file, index);
    const meshes = [object, ...object.children].filter((part) =>
      part.morphTargetInfluences && parser.associations.get(part)?.meshes === mesh);
    if (meshes.length === 0) fail(`three.js made no mesh of glTF node ${index}`);
    morphs.push({ meshes, count });
  }
  const total = morphs.reduce((sum, { count }) => sum + count, 0);
  if (total !== weightCount) fail(`${weightCount} weights sampled, glTF has ${total}`);
  return morphs;
}

// Poses the scene at a clip time.
function makePlayer({ root, clip }, start) {
  const keys = [...new Set(clip.tracks.flatMap((track) => [...track.times]))];
  const mixer = new AnimationMixer(root);
  const action = mixer.clipAction(clip).setLoop(LoopOnce, 1);
  action.clampWhenFinished = true;
  action.play();
  return (clipTime) => {
    action.time = snapToKey(clipTime - start, keys, 2.5e-7 * Math.max(1, Math.abs(clipTime)));
    mixer.update(0);  // evaluates at action.time as it is: neither advanced nor wrapped
  };
}

// Key times are floats and sample times decimals: a time within rounding (slack, about 4 float
// steps) of a key means that key, else a STEP would be read just before its jump.
function snapToKey(time, keys, slack) {
  let nearest = Infinity;
  for (const key of keys) if (Math.abs(key - time) < Math.abs(nearest - time)) nearest = key;
  return Math.abs(nearest - time) <= slack ? nearest : time;
}

// Quaternions x y z w. |w| makes q and -q equal; atan2 keeps small angles exact.
function degreesBetween(a, b) {
  if ([a, b].some((q) => !(Math.abs(q.length() - 1) <= unitLimit))) return Infinity;
  const { x, y, z, w } = a.clone().conjugate().multiply(b);
  return (2 * Math.atan2(Math.hypot(x, y, z), Math.abs(w)) * 180) / Math.PI;
}

function largestDifference(a, b) {
  return Math.max(...['x', 'y', 'z'].map((axis) => Math.abs(a[axis] - b[axis])));
}

function poseOf(numbers) {
  return {
    position: new Vector3().fromArray(numbers, 0),
    quaternion: new Quaternion().fromArray(numbers, 3),
    scale: new Vector3().fromArray(numbers, 7),
  };
}

// Each node's position in object space; parents may come in any order.
function composePositions(nodes, poses) {
  const matrices = [];
  const compose = (i) => {
    if (matrices[i]) return matrices[i];
    const { position, quaternion, scale } = poses[i];
    const matrix = new Matrix4().compose(position, quaternion, scale);
    if (nodes[i].parent >= 0) matrix.premultiply(compose(nodes[i].parent));
    return (matrices[i] = matrix);
  };
  return nodes.map((_, i) => new Vector3().setFromMatrixPosition(compose(i)));
}

class Worst {
  constructor(label, unit, limit) {
    Object.assign(this, { label, unit, limit, count: 0, value: 0, place: '' });
  }

  add(value, what, time) {
    this.count += 1;
    if (value <= this.value) return;  // a NaN is not
    this.value = Number.isNaN(value) ? Infinity : value;
    this.place = `${what} at clip time ${time}`;
  }

  get text() {
    return (this.count === 0 ? '-' : Number(this.value.toPrecision(3))) + this.unit;
  }
}

function compareNodes(worst, { nodes }, time, poses, objects) {
  for (const [i, { position, quaternion, scale }] of poses.entries()) {
    const what = `node "${nodes[i].name}" (${i})`;
    worst.translation.add(position.distanceTo(objects[i].position) * 1000, what, time);
    worst.rotation.add(degreesBetween(quaternion, objects[i].quaternion), what, time);
    worst.scale.add(largestDifference(scale, objects[i].scale), what, time);
  }
}

function compareWeights(worst, time, weights, morphs) {
  let first = 0;  // of this node's weights
  for (const { meshes, count } of morphs) {
    for (const { morphTargetInfluences } of meshes) {
      for (let k = 0; k < count; ++k) {
        const difference = Math.abs(weights[first + k] - morphTargetInfluences[k]);
        worst.weights.add(difference, `weight ${first + k}`, time);
      }
    }
    first += count;
  }
}

function compareWorld(worst, { nodes }, time, poses, objects) {
  for (const [i, position] of composePositions(nodes, poses).entries()) {
    const seen = objects[i].getWorldPosition(new Vector3());
    worst.world.add(position.distanceTo(seen) * 1000, `node "${nodes[i].name}" (${i})`, time);
  }
}

async function compare(options) {
  const sample = readSample(options.json);
  const clipName = options.clip ?? sample.clip;
  const file = await openClip(options.glb, clipName);
  const objects = await bindNodes(file, sample);
  const morphs = await bindMorphs(file, sample);
  const poseAt = makePlayer(file, sample.start);

  const worst = {
    translation: new Worst('translation', ' mm', options.mm),
    rotation: new Worst('rotation', ' deg', options.deg),
    scale: new Worst('scale', '', ratioLimit),
    weights: new Worst('weights', '', ratioLimit),
    world: new Worst('world', ' mm', options.mm),
  };
  for (const { time, nodes, weights } of sample.frames) {
    poseAt(time);
    const poses = nodes.map(poseOf);
    compareNodes(worst, sample, time, poses, objects);
    compareWeights(worst, time, weights, morphs);
    if (options.world) compareWorld(worst, sample, time, poses, objects);
  }

  const above = Object.values(worst).filter(({ value, limit }) => !(value <= limit));
  const { translation, rotation, scale, weights, world } = worst;
  console.log(
    `${above.length ? 'DISAGREE' : 'agree'}  ${clipName}  frames ${sample.frames.length}  ` +
    `max ${translation.text}  ${rotation.text}  scale ${scale.text}  weights ${weights.text}` +
    (options.world ? `  world ${world.text}` : ''));
  for (const { label, text, limit, place } of above) {
    console.log(`  ${label} ${text} is above ${limit}: ${place}`);
  }
  return above.length === 0;
}

try {
  if (!(await compare(readOptions()))) process.exitCode = 1;
} catch (error) {
  console.error(`agree: ${error.message}`);
  process.exitCode = 1;
}
