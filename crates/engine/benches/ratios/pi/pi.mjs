// What pi's own session manager does with the same task:
// node pi.mjs SESSION-MANAGER.js context FILE | list FOLDER
import { pathToFileURL } from "node:url";

const [manager, task, path] = process.argv.slice(2);
const { SessionManager } = await import(pathToFileURL(manager));
if (task === "context") {
  console.log(SessionManager.open(path).buildSessionContext().messages.length);
} else {
  console.log((await SessionManager.listAll(path)).length);
}
