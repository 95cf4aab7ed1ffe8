export function signin(request, users) {
  const user = users.get(request.body.name);
  if (!user) return { status: 401 };
  return { status: 302, location: request.query.next };
}
