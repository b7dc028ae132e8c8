// `$` where there is no Bun: a command from a template, whose values become words of their own. What Bun's has beside this is
// not here (https://bun.sh/docs/runtime/shell).
import { spawn } from "node:child_process";

const quoted = (value) => (Array.isArray(value) ? value.map(quoted).join(" ") : value?.raw !== undefined ? value.raw : `'${String(value).replaceAll("'", "'\\''")}'`);

export class ShellError extends Error {
  constructor({ exitCode, stdout, stderr }) {
    super(`Failed with exit code ${exitCode}`);
    Object.assign(this, { exitCode, stdout, stderr });
  }
}

class Command {
  #words;
  #cwd;
  #env = process.env;
  #throws = true;
  #quiet = false;
  #running;

  constructor(words, cwd) {
    this.#words = words;
    this.#cwd = cwd;
  }

  cwd(path) {
    this.#cwd = path;
    return this;
  }

  env(variables) {
    this.#env = variables;
    return this;
  }

  quiet() {
    this.#quiet = true;
    return this;
  }

  nothrow() {
    return this.throws(false);
  }

  throws(wanted) {
    this.#throws = wanted;
    return this;
  }

  async text() {
    return (await this.quiet().#run()).stdout.toString();
  }

  async json() {
    return JSON.parse(await this.text());
  }

  async blob() {
    return new Blob([(await this.quiet().#run()).stdout]);
  }

  async arrayBuffer() {
    const { stdout } = await this.quiet().#run();
    return stdout.buffer.slice(stdout.byteOffset, stdout.byteOffset + stdout.byteLength);
  }

  async *lines() {
    yield* (await this.text()).replace(/\n$/, "").split("\n");
  }

  then(resolve, reject) {
    return this.#run().then(resolve, reject);
  }

  #run() {
    return (this.#running ??= new Promise((resolve, reject) => {
      const child = spawn("sh", ["-c", this.#words], { cwd: this.#cwd, env: this.#env, stdio: ["ignore", "pipe", "pipe"] });
      const [stdout, stderr] = [[], []];
      child.stdout.on("data", (data) => stdout.push(data));
      child.stderr.on("data", (data) => stderr.push(data));
      child.on("error", reject);
      child.on("close", (code) => {
        const ended = { exitCode: code ?? 1, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr) };
        if (!this.#quiet) process.stderr.write(Buffer.concat([ended.stdout, ended.stderr]));
        const text = (encoding) => ended.stdout.toString(encoding);
        if (ended.exitCode && this.#throws) reject(new ShellError(ended));
        else resolve({ ...ended, text, json: () => JSON.parse(text()) });
      });
    }));
  }
}

export function shell(cwd) {
  const $ = (strings, ...values) => new Command(strings.raw.reduce((words, string, index) => words + string + (index < values.length ? quoted(values[index]) : ""), ""), cwd);
  return Object.assign($, { escape: quoted });
}
