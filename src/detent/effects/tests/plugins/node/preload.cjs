// Given to every Node process through NODE_OPTIONS: asks node:test, jest, vitest and ava for a report.
//
// One file of JSON lines per process that runs tests, with `end` as its last line only where the run came to its own
// end. No option of the command is changed. What a test starts does not report: the environment no longer names the
// folder by then. Without DETENT_REPORTS, in workers and in the children of `node --test` this does nothing.
'use strict';

const crypto = require('crypto');
const fs = require('fs');
const path = require('path');

const LONGEST_WHY = 300;
const folder = process.env.DETENT_REPORTS;

function begin(runner) {
  delete process.env.DETENT_REPORTS;
  const file = path.join(folder, `${runner.replace(':', '-')}-${process.pid}-${crypto.randomBytes(6).toString('hex')}.jsonl`);
  const write = (line) => fs.appendFileSync(file, JSON.stringify(line) + '\n');
  write({ detent: 1, runner });
  return {
    file,
    case(where, name, outcome, stage, why) {
      const isRed = outcome === 'failed' || outcome === 'error';
      const text = String(why || '').split('\n').find((line) => line.trim()) || '';
      write({ file: where, name, parameters: '', outcome, stage: isRed ? stage : '', why: text.slice(0, LONGEST_WHY) });
    },
    end(code) { write({ end: code }); },
  };
}

function realMain() {
  try { return fs.realpathSync(process.argv[1] || '').replace(/\\/g, '/'); } catch { return ''; }
}

// ---- node:test: its reporters are options of the process, so the process is started again with one more ------------

function optionsOf(text) {
  const words = Array.isArray(text) ? text : text.split(/\s+/);
  const count = (name) => words.filter((word) => word === name || word.startsWith(name + '=')).length;
  return [count('--test-reporter'), count('--test-reporter-destination')];
}

function startAgain() {
  const own = optionsOf(process.execArgv), given = optionsOf(process.env.NODE_OPTIONS || '');
  const reporters = own[0] + given[0], destinations = own[1] + given[1];
  const added = [];
  if (reporters === 0) {
    const isSpec = process.stdout.isTTY || Number(process.versions.node.split('.')[0]) >= 23;
    added.push(`--test-reporter=${isSpec ? 'spec' : 'tap'}`, '--test-reporter-destination=stdout');
  } else if (reporters === 1 && destinations === 0) {
    added.push('--test-reporter-destination=stdout');
  } else if (reporters !== destinations) {
    return; // node refuses this command itself
  }
  const report = begin('node:test');
  added.push(`--test-reporter=${path.join(__dirname, 'reporter.mjs')}`, `--test-reporter-destination=${report.file}.part`);
  const words = [...process.execArgv, ...added, ...process.argv.slice(1)];
  const done = require('child_process').spawnSync(process.execPath, words, { stdio: 'inherit' });
  try {
    fs.appendFileSync(report.file, fs.readFileSync(report.file + '.part'));
    fs.unlinkSync(report.file + '.part');
  } catch { /* nothing was reported: the report stays without its end */ }
  if (done.signal) process.kill(process.pid, done.signal);
  process.exit(done.status === null ? 1 : done.status);
}

function isTestFile(main) {
  if (!main || main.includes('/node_modules/')) return false;
  try {
    const text = fs.readFileSync(main, { encoding: 'utf8' });
    return text.length < 1 << 20 && /(['"])node:test\1/.test(text);
  } catch { return false; }
}

// ---- jest: runCLI of @jest/core answers with every result ------------------------------------------------------------

function watchJest() {
  const Module = require('module');
  const load = Module._load;
  Module._load = function (request, ...rest) {
    const loaded = load.call(this, request, ...rest);
    if (request !== '@jest/core' || !loaded || !loaded.runCLI || !process.env.DETENT_REPORTS) return loaded;
    return new Proxy(loaded, { get: (target, key) => (key === 'runCLI' ? (...args) => runJest(target.runCLI, args) : target[key]) });
  };
}

async function runJest(runCLI, args) {
  const report = begin('jest');
  const answer = await runCLI(...args);
  const words = { passed: 'passed', failed: 'failed' };
  for (const file of answer.results.testResults) {
    if (file.testExecError) report.case(file.testFilePath, '', 'error', 'collection', file.testExecError.message || file.failureMessage);
    for (const one of file.testResults) {
      const why = (one.failureMessages || [])[0];
      report.case(file.testFilePath, [...one.ancestorTitles, one.title].join(' > '), words[one.status] || 'skipped', 'test', why);
    }
  }
  report.end(null);
  return answer;
}

// ---- ava: its workers tell the main process by messages, which it completes with the test's file ---------------------

function watchAva() {
  const report = begin('ava');
  const seen = new Set();
  const take = (event) => {
    const file = event.testFile, title = (event.title || '').split(' › ').join(' > ');
    const why = event.err && (event.err.message || event.err.originalError && event.err.originalError.message);
    if (event.type === 'test-passed') report.case(file, title, event.knownFailing ? 'xfailed' : 'passed', '', '');
    else if (event.type === 'test-failed') report.case(file, title, 'failed', 'test', why);
    else if (event.type === 'hook-failed') report.case(file, title, 'error', 'setup', why);
    else if (event.type === 'selected-test' && (event.skip || event.todo)) report.case(file, title, 'skipped', '', '');
    else if (event.type === 'uncaught-exception' || event.type === 'missing-ava-import') {
      report.case(file, '', 'error', seen.has(file) ? 'test' : 'collection', why || event.type);
    }
    if (event.type === 'selected-test') seen.add(file);
  };
  const { EventEmitter } = require('events');
  const emit = EventEmitter.prototype.emit;
  EventEmitter.prototype.emit = function (name, message, ...rest) {
    const answer = emit.call(this, name, message, ...rest);
    if (name === 'message' && message && message.ava && message.ava.testFile) take(message.ava);
    return answer;
  };
  process.on('exit', (code) => report.end(code));
}

// ---- vitest: one more reporter beside those of its command line or configuration -------------------------------------

function watchVitest() {
  const report = begin('vitest');
  const words = { passed: 'passed', failed: 'failed' };
  globalThis[Symbol.for('detent.vitest')] = {
    onTestRunEnd(modules) {
      for (const module of modules) {
        const errors = module.errors();
        if (errors.length) report.case(module.moduleId, '', 'error', 'collection', errors[0].message);
        for (const one of module.children.allTests()) {
          const result = one.result();
          const why = result.errors && result.errors[0] && result.errors[0].message;
          report.case(module.moduleId, one.fullName, words[result.state] || 'skipped', 'test', why);
        }
      }
      report.end(null);
    },
  };
  require('module').register(require('url').pathToFileURL(path.join(__dirname, 'vitest_hook.mjs')));
}

function start() {
  if (!folder || process.env.NODE_TEST_CONTEXT || !require('worker_threads').isMainThread) return;
  const main = realMain();
  if (/\/vitest\/vitest\.mjs$/.test(main)) watchVitest();
  else if (/\/ava\/entrypoints\/cli\.mjs$/.test(main)) watchAva();
  else if (process.execArgv.includes('--test') || isTestFile(main)) { if (!process.send) startAgain(); } else watchJest();
}

start();
