// Works with threads, a child and a file, for SITUATION_SECONDS and once at least.
const { Worker } = require('worker_threads');
const { execFileSync } = require('child_process');
const fs = require('fs');
const begin = Date.now(), milliseconds = 1000 * Number(process.env.SITUATION_SECONDS || 0);
const source = `
  const words = {};
  for (let i = 0; i < 2000; i++) words[i] = Array(10).fill(i);
  require('worker_threads').parentPort.postMessage(JSON.stringify(words).length);`;
function work() {
  return new Promise((resolve, reject) => {
    const worker = new Worker(source, { eval: true });
    worker.on('message', resolve);
    worker.on('error', reject);
  });
}
(async () => {
  let results, said;
  do {
    results = await Promise.all([work(), work()]);
    said = execFileSync('sh', ['-c', 'echo from a child']).toString();
  } while (Date.now() - begin < milliseconds);
  fs.writeFileSync('written', 'written\n');
  console.log(results, said.trim());
  process.exitCode = 7;
})();
