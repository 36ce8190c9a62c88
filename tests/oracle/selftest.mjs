// Makes validate.mjs and agree.mjs pass and fail once each, on GLBs written here.
//   node --test selftest.mjs
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const folder = mkdtempSync(join(tmpdir(), 'dopesheet-oracle-'));
after(() => rmSync(folder, { recursive: true }));

function write(name, content) {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

function run(script, ...args) {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const options = { encoding: 'utf8' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...args], options);
  return { status, text: stdout + stderr };
}

function expectRun({ status, text }, wantedStatus, pattern) {
  assert.equal(status, wantedStatus, text);
  assert.match(text, pattern);
}

// ---- a GLB writer: float accessors only, one bufferView each

class GltfBuilder {
  constructor() {
    this.floats = [];
    this.json = {
      asset: { version: '2.0' }, scene: 0, scenes: [{ nodes: [0] }],
      nodes: [], animations: [], accessors: [], bufferViews: [], buffers: [{ byteLength: 0 }],
    };
  }

  accessor(values, width, withBounds = false) {
    const columns = [...Array(width).keys()].map((c) =>
      values.filter((_, i) => i % width === c).map(Math.fround));
    this.json.bufferViews.push({
      buffer: 0, byteOffset: this.floats.length * 4, byteLength: values.length * 4,
    });
    this.floats.push(...values);
    this.json.buffers[0].byteLength = this.floats.length * 4;
    this.json.accessors.push({
      bufferView: this.json.bufferViews.length - 1, componentType: 5126,
      count: values.length / width, type: ['SCALAR', , 'VEC3', 'VEC4'][width - 1],
      ...(withBounds && {
        min: columns.map((column) => Math.min(...column)),
        max: columns.map((column) => Math.max(...column)),
      }),
    });
    return this.json.accessors.length - 1;
  }

  // channels: [node, path, interpolation, times, values]
  animation(name, channels) {
    const widths = { translation: 3, scale: 3, rotation: 4, weights: 1 };
    this.json.animations.push({
      name,
      samplers: channels.map(([, path, interpolation, times, values]) => ({
        interpolation,
        input: this.accessor(times, 1, true), output: this.accessor(values, widths[path]),
      })),
      channels: channels.map(([node, path], sampler) => ({ sampler, target: { node, path } })),
    });
  }

  // Triangles (one a primitive) with morph targets that move them.
  mesh(targetCount, primitiveCount = 1) {
    const triangle = (x) => this.accessor([x, 0, 0, x + 1, 0, 0, x, 1, 0], 3, true);
    const targets = [...Array(targetCount).keys()].map((k) => ({ POSITION: triangle(k + 1) }));
    const primitive = { attributes: { POSITION: triangle(0) }, targets };
    this.json.meshes = [{
      primitives: Array(primitiveCount).fill(primitive),
      weights: Array(targetCount).fill(0),
    }];
    return 0;
  }

  bin() {
    return Buffer.from(Float32Array.from(this.floats).buffer);
  }

  glb() {
    const text = JSON.stringify(this.json);
    const json = Buffer.from(text.padEnd(Math.ceil(Buffer.byteLength(text) / 4) * 4));
    const bin = this.bin();
    const words = (...values) => Buffer.from(Uint32Array.from(values).buffer);
    return Buffer.concat([
      words(0x46546c67, 2, 12 + 8 + json.length + 8 + bin.length),
      words(json.length, 0x4e4f534a), json, words(bin.length, 0x004e4942), bin,
    ]);
  }
}

// ---- one clip with every interpolation, and its samples from closed forms

const start = 0.5;  // clip time of the first key, seconds
const times = [0, 0.1, 0.25, 0.3, 0.5, 0.7, 1, 1.7, 2];
const half = Math.SQRT1_2;

function aboutZ(degrees) {
  const radians = (degrees * Math.PI) / 180;
  return [0, 0, Math.sin(radians / 2), Math.cos(radians / 2)];
}

function makeClip() {
  const builder = new GltfBuilder();
  builder.json.nodes = [
    { name: 'Bip01 L.Arm[0]', children: [1, 2], translation: [0, 1, 0] },
    { name: 'hand__rfbi1', children: [3], translation: [1, 0, 0] },
    { name: 'anything', extras: { dopesheet_node: 2 } },
    { name: 'face', mesh: builder.mesh(2, 2), translation: [0, 0, 0.25] },
  ];
  builder.json.skins = [{ joints: [0, 1, 2] }];  // makes three.js load bones
  builder.animation('other', [[0, 'translation', 'STEP', [0, 2], [5, 5, 5, 6, 6, 6]]]);
  builder.animation('wave', [
    [0, 'rotation', 'LINEAR', [0, 1, 2], [0, 0, 0, 1, 0, 0, half, half, 0, 0, 0, 1]],
    // In tangent, value, out tangent of x = t^3, y = t^2, z = t: exact for a cubic.
    [1, 'translation', 'CUBICSPLINE', [0, 0.7, 2], [
      0, 0, 1, 0, 0, 0, 0, 0, 1,
      1.47, 1.4, 1, 0.343, 0.49, 0.7, 1.47, 1.4, 1,
      12, 4, 1, 8, 4, 2, 12, 4, 1]],
    [2, 'scale', 'STEP', [0, 0.1, 0.3, 2], [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]],
    [3, 'weights', 'LINEAR', [0, 2], [0, 1, 1, 0]],
  ]);
  return builder;
}

function armDegrees(t) {
  return t < 1 ? 90 * t : 90 * (2 - t);
}

function stepScale(t) {
  return t < 0.1 ? 1 : t < 0.3 ? 2 : t < 2 ? 3 : 4;
}

function makeSample() {
  const frames = times.map((t) => ({
    time: Number((start + t).toFixed(6)),
    nodes: [
      [0, 1, 0, ...aboutZ(armDegrees(t)), 1, 1, 1],
      [t ** 3, t ** 2, t, 0, 0, 0, 1, 1, 1, 1],
      [0, 0, 0, 0, 0, 0, 1, ...Array(3).fill(stepScale(t))],
      [0, 0, 0.25, 0, 0, 0, 1, 1, 1, 1],
    ],
    weights: [t / 2, 1 - t / 2],
  }));
  return {
    schema: 'dopesheet.sample/1', clip: 'wave', space: 'gltf', start,
    nodes: [
      { name: 'Bip01 L.Arm[0]', parent: -1 }, { name: 'hand', parent: 0 },
      { name: 'marked', parent: 0 }, { name: 'face', parent: 1 },
    ],
    frames,
  };
}

const clipFile = write('clip.glb', makeClip().glb());

function agree(change, ...options) {
  const sample = makeSample();
  change(sample);
  return run('agree.mjs', clipFile, write('sample.json', JSON.stringify(sample)), ...options);
}

describe('validate', () => {
  const broken = makeClip();
  broken.json.accessors.find(({ max }) => max?.[0] === 2).max[0] = 3;
  const brokenFile = write('broken.glb', broken.glb());

  test('accepts a right file', () => {
    expectRun(run('validate.mjs', clipFile), 0, /^ok {2}.*clip\.glb {2}\(infos: \d+\)\n$/);
  });
  test('rejects a wrong max, also after a right file', () => {
    expectRun(run('validate.mjs', brokenFile), 1, /^error .*ACCESSOR_MAX_MISMATCH  \/accessors/);
    expectRun(run('validate.mjs', brokenFile, clipFile), 1, /^ok .*clip\.glb/m);
  });
  test('rejects a warning', () => {
    const builder = makeClip();
    builder.json.asset.version = '2.9';
    const file = write('warning.glb', builder.glb());
    expectRun(run('validate.mjs', file), 1, /^warning .*UNKNOWN_ASSET_MINOR_VERSION/);
  });
  test('prints info codes on request', () => {
    const builder = makeClip();
    builder.accessor([1, 2], 1);
    const file = write('info.glb', builder.glb());
    expectRun(run('validate.mjs', '--codes', file), 0, /info {2}UNUSED_OBJECT {2}\/accessors\//);
    assert.doesNotMatch(run('validate.mjs', file).text, /UNUSED_OBJECT/);
  });
  test('rejects no file, a missing file and garbage', () => {
    expectRun(run('validate.mjs'), 1, /usage/);
    expectRun(run('validate.mjs', join(folder, 'none.glb')), 1, /^error .*ENOENT/);
    expectRun(run('validate.mjs', write('garbage.glb', 'garbage')), 1, /^error/);
  });
  test('reads the .bin beside a .gltf', () => {
    const builder = makeClip();
    builder.json.buffers[0].uri = 'outer%20data.bin';
    const file = write('outer.gltf', JSON.stringify(builder.json));
    expectRun(run('validate.mjs', file), 1, /IO_ERROR/);
    write('outer data.bin', builder.bin());
    expectRun(run('validate.mjs', file), 0, /^ok/);
    write('outer data.bin', builder.bin().subarray(4));
    expectRun(run('validate.mjs', file), 1, /BUFFER_BYTE_LENGTH_MISMATCH/);
  });
});

describe('agree accepts', () => {
  const line = /^agree {2}wave {2}frames 9 {2}max \S+ mm {2}\S+ deg {2}scale 0 {2}weights \S+\n$/;
  test('a right sample', () => expectRun(agree(() => {}), 0, line));
  test('a right sample in model space', () => {
    expectRun(agree(() => {}, '--world'), 0, /weights \S+ {2}world \S+ mm\n$/);
  });
  test('-q for q', () => {
    const negate = ({ frames }) => frames.forEach(({ nodes: [pose] }) => {
      for (let k = 3; k < 7; ++k) pose[k] = -pose[k];
    });
    expectRun(agree(negate), 0, line);
  });
  test('frames in any order', () => expectRun(agree(({ frames }) => frames.reverse()), 0, line));
  test('1 mm and 0.1 degree under wider limits', () => {
    const shift = ({ frames }) => {
      frames[3].nodes[1][0] += 0.001;
      frames[2].nodes[0].splice(3, 4, ...aboutZ(armDegrees(times[2]) + 0.1));
    };
    expectRun(agree(shift, '--mm', '1.1', '--deg', '0.11'), 0, /max 1 mm {2}0.1 deg/);
  });
  test('weights without a skeleton', () => {
    const builder = new GltfBuilder();
    builder.json.nodes = [{ name: 'face', mesh: builder.mesh(1) }];
    builder.animation('talk', [[0, 'weights', 'STEP', [0, 1], [0.25, 0.5]]]);
    const sample = { ...makeSample(), clip: 'talk', start: 0, nodes: [] };
    sample.frames = [[0.9, 0.25], [1, 0.5]].map(([time, weight]) =>
      ({ time, nodes: [], weights: [weight] }));
    const files = [write('talk.glb', builder.glb()), write('talk.json', JSON.stringify(sample))];
    expectRun(run('agree.mjs', ...files), 0, /max - mm {2}- deg {2}scale - {2}weights 0\n/);
  });
});

describe('agree rejects', () => {
  const rejects = (name, change, pattern, ...options) =>
    test(name, () => expectRun(agree(change, ...options), 1, pattern));

  for (const k of [0, 4, times.length - 1]) {
    const place = `at clip time ${start + times[k]}\n`;
    rejects(`1 mm in frame ${k}`, ({ frames }) => {
      frames[k].nodes[1][2] += 0.001;
    }, RegExp(`^DISAGREE .*\n  translation 1 mm is above 0.01: node "hand" \\(1\\) ${place}`));
    rejects(`0.1 degree in frame ${k}`, ({ frames }) => {
      frames[k].nodes[0].splice(3, 4, ...aboutZ(armDegrees(times[k]) + 0.1));
    }, RegExp(`rotation 0.1 deg is above 0.01: node "Bip01 L.Arm\\[0\\]" \\(0\\) ${place}`));
    rejects(`a scale in frame ${k}`, ({ frames }) => {
      frames[k].nodes[2][8] += 0.001;
    }, RegExp(`scale 0.001 is above 0.00001: node "marked" \\(2\\) ${place}`));
    rejects(`a weight in frame ${k}`, ({ frames }) => {
      frames[k].weights[1] += 0.001;
    }, RegExp(`weights 0.001 is above 0.00001: weight 1 ${place}`));
  }
  rejects('a blend where the clip steps', ({ frames }) => {
    frames[2].nodes[2].splice(7, 3, 2.75, 2.75, 2.75);
  }, /scale 0.75/);
  rejects('a straight line where the clip is a cubic', ({ frames }) => {
    frames[6].nodes[1][0] = 2.11;
  }, /translation 1110 mm/);
  rejects('a shifted start', (sample) => {
    sample.start = 0.4;
  }, /DISAGREE/);
  rejects('a rotation of zero length', ({ frames }) => {
    frames[1].nodes[3][6] = 0;
  }, /Infinity deg/);
  rejects('a wrong parent, in model space only', (sample) => {
    sample.nodes[3].parent = 0;
  }, /^DISAGREE .*\n {2}world \S+ mm is above 0.01: node "face" \(3\)/, '--world');
  rejects('another clip', () => {}, /DISAGREE/, '--clip', 'other');
  rejects('an unknown clip', (sample) => {
    sample.clip = 'none';
  }, /0 animations are named "none"/);
  rejects('no frames', (sample) => {
    sample.frames = [];
  }, /nothing to compare/);
  rejects('no nodes and no weights', (sample) => {
    sample.nodes = [];
    sample.frames = [{ time: 0.5, nodes: [] }];
  }, /nothing to compare/);
  rejects('a node the glTF has not', (sample) => {
    sample.nodes[3].name = 'nose';
  }, /no glTF node is "nose"/);
  rejects('an animated node left out', (sample) => {
    sample.nodes.length = 2;
    sample.frames.forEach(({ nodes }) => { nodes.length = 2; });
  }, /scale of glTF node 2 is animated but not sampled/);
  rejects('animated weights left out', ({ frames }) => {
    frames.forEach((frame) => delete frame.weights);
  }, /weights of glTF node 3 is animated but not sampled/);
  rejects('too few weights', ({ frames }) => {
    frames.forEach(({ weights }) => weights.pop());
  }, /1 weights sampled, glTF has 2/);
  rejects('a NaN', ({ frames }) => {
    frames[0].nodes[3][0] = NaN;
  }, /not a finite number/);
  rejects('a short row', ({ frames }) => {
    frames[0].nodes[3].pop();
  }, /not 10 numbers/);
  rejects('another schema', (sample) => {
    sample.schema = 'dopesheet.sample/2';
  }, /unknown schema/);
  rejects('another space', (sample) => {
    sample.space = 'source';
  }, /space is source/);
  rejects('a limit that is no number', () => {}, /usage/, '--mm', 'few');
  test('no files', () => expectRun(run('agree.mjs'), 1, /usage/));
});
