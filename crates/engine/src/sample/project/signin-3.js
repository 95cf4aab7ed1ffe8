import { tooMany } from "./limit.js";

export function signin(request, users) {
  const { name } = request.body;
  if (tooMany(name)) return { status: 429 };
  if (!users.get(name)) return { status: 401 };
  return { status: 302, location: localPath(request.query.next) };
}

// Only paths of our own site: never another host.
function localPath(next) {
  return /^\/(?!\/)/.test(next ?? "") ? next : "/";
}
