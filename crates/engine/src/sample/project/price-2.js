export function price(cents, locale = "de-DE") {
  const style = { style: "currency", currency: "EUR" };
  return new Intl.NumberFormat(locale, style).format(cents / 100);
}
