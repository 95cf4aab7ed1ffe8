const attempts = new Map();

// Ten attempts a minute for each name.
export function tooMany(name, now = Date.now()) {
  const minute = Math.floor(now / 60_000);
  const seen = attempts.get(name);
  const count = seen?.minute === minute ? seen.count + 1 : 1;
  attempts.set(name, { minute, count });
  return count > 10;
}
