export async function orders(db) {
  const rows = await db.orders();
  const prices = await db.prices(rows.map((row) => row.item));
  for (const row of rows) {
    row.price = prices.get(row.item);
  }
  return rows;
}
