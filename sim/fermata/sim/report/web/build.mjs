// SPDX-License-Identifier: Apache-2.0

// Makes dist/report.html: one file that needs nothing else. The same sources and lock file give the
// same bytes.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const read = (path) => readFileSync(join(here, path), 'utf8');
const PLACE = '<script type="application/json" id="run-data"></script>';

async function bundled(entry) {
  const result = await build({
    absWorkingDir: here,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'iife',
    target: ['es2020'],
    charset: 'utf8',
    legalComments: 'none', // All licences stand at the end of the page.
    outdir: 'dist',
  });
  return {
    text: result.outputFiles[0].text.trimEnd(),
    inputs: Object.keys(result.metafile.inputs),
  };
}

/// Of every package that a file of the bundle is from, and of what that package has bundled itself.
function licencesOf(inputs) {
  const folder = /^(node_modules\/(?:@[^/]+\/)?[^/]+)\//;
  const found = new Set(inputs.map((path) => path.match(folder)?.[1]).filter(Boolean));
  if (found.has('node_modules/@dagrejs/dagre')) found.add('node_modules/@dagrejs/graphlib');
  return [...found].sort().map((path) => {
    const { name, version } = JSON.parse(read(join(path, 'package.json')));
    const text = read(join(path, 'LICENSE'))
      .replace(/[ \t]+$/gm, '')
      .replace(/\r/g, '')
      .trim();
    return `${name} ${version}\n\n${text}`;
  });
}

const script = await bundled('src/main.ts');
const style = await bundled('src/style.css');
const licences = licencesOf(script.inputs).join('\n\n----\n\n');
if (/--!?>/.test(licences)) throw new Error('a licence would end the comment that it stands in');
if (/<\/style/i.test(style.text)) throw new Error('the style sheet would end its element');
if (/<\/script|<!--/i.test(script.text)) throw new Error('the script would end its element');

const page = read('src/template.html')
  .replace('{{style}}', () => style.text)
  .replace('{{script}}', () => script.text)
  .replace('{{licences}}', () => licences);
if (page.split(PLACE).length !== 2) throw new Error(`the page needs exactly one ${PLACE}`);
if (/[ \t]+$/m.test(page)) throw new Error('a line of the page ends in a space');
mkdirSync(join(here, 'dist'), { recursive: true });
writeFileSync(join(here, 'dist/report.html'), page);
console.log(`dist/report.html: ${Math.round(page.length / 1024)} KiB`);
