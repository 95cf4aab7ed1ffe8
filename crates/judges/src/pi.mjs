// Asks the real SessionManager of pi. Started with the path of its module; each line of input is
// a JSON object, and each is answered by one line:
//
//   { file, look?, ours?, ids? }     opens a copy of a file, and tells what is in it
//   { home, calls, ours?, ids? }     makes calls one after the other, and tells what came of them
//
// `look` says at which entries, by their places, the context is asked for as well. `ids` are given
// to new entries, in their order. `now` is the time. `ours` is sent back as JavaScript reads and
// writes it, so that both can be compared letter by letter. In `calls`, `{"undefined": true}`
// stands for an argument that is left out.
import crypto from "node:crypto";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

// Nothing of the user's own is looked at, not even the time zone.
const home = fs.mkdtempSync(path.join(os.tmpdir(), "rethread-judge-"));
process.on("exit", () => fs.rmSync(home, { recursive: true, force: true }));
for (const name of Object.keys(process.env)) {
  if (name.startsWith("PI_")) delete process.env[name];
}
process.env.TZ = "UTC";
process.env.HOME = process.env.USERPROFILE = home;

// A clock that stands, and ids that are known beforehand.
let now;
const RealDate = Date;
globalThis.Date = class Date extends RealDate {
  constructor(...given) {
    super(...(given.length === 0 && now !== undefined ? [now] : given));
  }
  static now() {
    return now === undefined ? RealDate.now() : new RealDate(now).getTime();
  }
};
let ids = [];
const randomUUID = crypto.randomUUID;
crypto.randomUUID = (...given) => ids.shift() ?? randomUUID(...given);
syncBuiltinESMExports();

const { SessionManager, buildSessionContext } = await import(pathToFileURL(process.argv[2]));

/** All that a session says about itself. The tree is told from the roots down. */
function tell(session, places) {
  const entries = session.getEntries();
  const tree = [];
  const open = session.getTree().reverse().map((node) => [node, 0]);
  while (open.length > 0) {
    const [node, depth] = open.pop();
    tree.push([depth, node.entry.id, node.label ?? null, node.labelTimestamp ?? null]);
    for (const child of [...node.children].reverse()) open.push([child, depth + 1]);
  }
  return {
    header: session.getHeader(),
    entries,
    leaf: session.getLeafId() ?? null,
    leafEntry: session.getLeafEntry()?.id ?? null,
    name: session.getSessionName() ?? null,
    cwd: session.getCwd(),
    tree,
    branch: session.getBranch().map((entry) => entry.id),
    context: session.buildSessionContext(),
    at: places.map((place) => {
      const id = entries[place].id;
      return {
        children: session.getChildren(id).map((entry) => entry.id),
        branch: session.getBranch(id).map((entry) => entry.id),
        context: buildSessionContext(entries, id),
      };
    }),
  };
}

function look({ file, look = [] }) {
  const copy = path.join(fs.mkdtempSync(path.join(home, "copy-")), path.basename(file));
  try {
    fs.copyFileSync(file, copy);
    fs.chmodSync(copy, 0o600);
    const before = fs.readFileSync(copy, "utf8");
    const told = tell(SessionManager.open(copy), look);
    const after = fs.readFileSync(copy, "utf8");
    return { told, rewritten: before === after ? null : after };
  } finally {
    fs.rmSync(path.dirname(copy), { recursive: true, force: true });
  }
}

async function call(session, [method, ...given]) {
  const args = given.map((arg) => (arg?.undefined === true ? undefined : arg));
  if (typeof SessionManager[method] === "function") return SessionManager[method](...args);
  return session[method](...args);
}

async function perform({ home: agents, calls, look = [] }) {
  process.env.PI_CODING_AGENT_DIR = agents;
  const gave = [];
  let session;
  for (const one of calls) {
    try {
      const value = await call(session, one);
      if (value instanceof SessionManager) session = value;
      gave.push(value instanceof SessionManager ? (value.getSessionFile() ?? null) : (value ?? null));
    } catch (error) {
      gave.push({ error: error.message });
    }
  }
  delete process.env.PI_CODING_AGENT_DIR;
  const file = session?.getSessionFile();
  const text = file && fs.existsSync(file) ? fs.readFileSync(file, "utf8") : null;
  return { gave, told: session ? tell(session, look) : null, file: file ?? null, text };
}

async function answer(line) {
  const question = JSON.parse(line);
  now = question.now;
  ids = question.ids ?? [];
  let answer;
  try {
    answer = question.calls ? await perform(question) : look(question);
  } catch (error) {
    answer = { error: error.message };
  }
  now = undefined;
  answer.ours = question.ours;
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

// Not by `readline`, which takes U+2028 for the end of a line.
let pending = [];
for await (let chunk of process.stdin) {
  for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10)) {
    await answer(Buffer.concat([...pending, chunk.subarray(0, end)]).toString("utf8"));
    pending = [];
    chunk = chunk.subarray(end + 1);
  }
  pending.push(chunk);
}
