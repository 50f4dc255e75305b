// A reporter of node:test, given by preload.cjs: one JSON line per test, and `end` when the run is over.
const LONGEST_WHY = 300;

function whyOf(details) {
  const error = details && details.error;
  const text = error ? String((error.cause && error.cause.message) || error.message || error) : '';
  return (text.split('\n').find((line) => line.trim()) || '').slice(0, LONGEST_WHY);
}

function endOf(event) {
  const { details, skip, todo } = event.data;
  const isFail = event.type === 'test:fail';
  if (skip !== undefined) return 'skipped';
  if (todo !== undefined) return isFail ? 'xfailed' : 'xpassed';
  if (!isFail) return 'passed';
  return details && details.error && details.error.failureType === 'hookFailed' ? 'error' : 'failed';
}

function lineOf(event, name, isWholeFile) {
  const outcome = isWholeFile ? 'error' : endOf(event);
  const isRed = outcome === 'failed' || outcome === 'error';
  const stage = isWholeFile ? 'collection' : outcome === 'error' ? 'setup' : 'test';
  const file = event.data.file || '';
  return { file, name: isWholeFile ? '' : name, parameters: '', outcome, stage: isRed ? stage : '', why: isRed ? whyOf(event.data.details) : '' };
}

export default async function* report(source) {
  const stack = [];
  for await (const event of source) {
    const data = event.data;
    if (event.type === 'test:start') {
      stack.length = data.nesting;
      stack[data.nesting] = data.name;
    }
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue;
    const name = [...stack.slice(0, data.nesting), data.name].join(' > ');
    const isWholeFile = data.nesting === 0 && data.file && (data.name === data.file || data.file.endsWith('/' + data.name));
    if (isWholeFile && event.type === 'test:pass') continue; // a file without tests of node:test is no test
    const failureType = data.details && data.details.error && data.details.error.failureType;
    const isSuite = data.details && data.details.type === 'suite';
    if ((isSuite || isWholeFile) && failureType === 'subtestsFailed') continue;
    if (isSuite && event.type === 'test:pass') continue;
    yield JSON.stringify(lineOf(event, name, isWholeFile)) + '\n';
  }
  yield JSON.stringify({ end: null }) + '\n';
}
