// Runs Khronos' glTF validator. Exit 1 on any error or warning, or when no file was given.
//   node validate.mjs [--codes] FILE...
import { readFile } from 'node:fs/promises';
import { dirname, extname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import validator from 'gltf-validator';

const severities = ['error', 'warning', 'info', 'hint'];

async function read(path) {
  return new Uint8Array(await readFile(path));
}

async function issuesOf(file) {
  const report = await validator.validateBytes(await read(file), {
    uri: file,
    format: extname(file).slice(1).toLowerCase(),
    maxIssues: 0,  // no limit
    writeTimestamp: false,
    externalResourceFunction: (uri) => read(resolve(dirname(file), decodeURIComponent(uri))),
  });
  return report.issues.messages;
}

// True when the file has neither an error nor a warning.
async function check(file, withCodes) {
  let issues;
  try {
    issues = await issuesOf(file);
  } catch (error) {
    console.log(`error  ${file}  ${error?.message ?? error}`);
    return false;
  }
  const bad = issues.filter((issue) => issue.severity <= 1);
  for (const { severity, code, message, pointer, offset } of bad) {
    const place = pointer ?? (offset === undefined ? '' : `byte ${offset}`);
    console.log(`${severities[severity]}  ${file}  ${code}  ${place}  ${message}`);
  }
  const infos = issues.filter((issue) => issue.severity > 1);
  if (bad.length === 0) console.log(`ok  ${file}  (infos: ${infos.length})`);
  if (withCodes) {
    for (const { severity, code, pointer } of infos) {
      console.log(`  ${severities[severity]}  ${code}  ${pointer ?? ''}`);
    }
  }
  return bad.length === 0;
}

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { codes: { type: 'boolean', default: false } },
  });
  if (positionals.length === 0) throw new Error('usage: validate.mjs [--codes] FILE...');
  for (const file of positionals) {
    if (!(await check(file, values.codes))) process.exitCode = 1;
  }
} catch (error) {
  console.error(`validate: ${error.message}`);
  process.exitCode = 1;
}
