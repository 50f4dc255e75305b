// Given to vitest's main process by preload.cjs: adds one reporter to those that vitest makes, whatever they are.
const MAKES_REPORTERS = /(function createReporters\((\w+), ?\w+\) ?\{)/;
const OURS = "globalThis[Symbol.for('detent.vitest')]";

export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  if (loaded.format !== 'module' || !url.includes('/vitest/dist/') || !loaded.source) return loaded;
  const source = loaded.source.toString();
  if (!MAKES_REPORTERS.test(source)) return loaded;
  return { ...loaded, source: source.replace(MAKES_REPORTERS, `$1 $2 = [...$2, ${OURS}].filter(Boolean);`) };
}
