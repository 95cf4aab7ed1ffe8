export async function orders(db) {
  const rows = await db.orders();
  for (const row of rows) {
    row.price = await db.price(row.item);
  }
  return rows;
}
