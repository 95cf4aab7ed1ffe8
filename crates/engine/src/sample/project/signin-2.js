import { tooMany } from "./limit.js";

export function signin(request, users) {
  const { name } = request.body;
  if (tooMany(name)) return { status: 429 };
  if (!users.get(name)) return { status: 401 };
  return { status: 302, location: request.query.next };
}
