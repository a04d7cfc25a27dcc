/* Parquet, as little of it as a table needs: one row group, one plain page a column, no compression.
   Numbers become DOUBLE, words BYTE_ARRAY (UTF8). Format: github.com/apache/parquet-format, Thrift compact protocol. */
function parquet(columns) {
  const encoder = new TextEncoder();
  const join = (parts) => {
    const all = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
    let at = 0;
    for (const p of parts) { all.set(p, at); at += p.length; }
    return all;
  };
  const varint = (n) => {
    const bytes = [];
    for (; n >= 128; n = Math.floor(n / 128)) bytes.push((n % 128) | 128);
    return Uint8Array.from([...bytes, n]);
  };
  const INT = 5, LONG = 6, BINARY = 8, LIST = 9, STRUCT = 12;
  const int = (n) => [INT, varint(2 * n)], long = (n) => [LONG, varint(2 * n)];
  const text = (s) => { const b = encoder.encode(s); return [BINARY, join([varint(b.length), b])]; };
  const struct = (fields) => {
    let last = 0;
    const parts = [];
    for (const [id, [type, bytes]] of fields) { parts.push(Uint8Array.of(((id - last) << 4) | type), bytes); last = id; }
    return [STRUCT, join([...parts, Uint8Array.of(0)])];
  };
  const list = (items) => {
    const type = items[0][0];
    const head = items.length < 15 ? Uint8Array.of((items.length << 4) | type) : join([Uint8Array.of(0xf0 | type), varint(items.length)]);
    return [LIST, join([head, ...items.map((item) => item[1])])];
  };
  const word = (s) => { const b = encoder.encode(s), size = new DataView(new ArrayBuffer(4)); size.setUint32(0, b.length, true); return [new Uint8Array(size.buffer), b]; };
  const plain = (values, numeric) => {
    if (!numeric) return join(values.flatMap((s) => word(String(s))));
    const view = new DataView(new ArrayBuffer(8 * values.length));
    values.forEach((x, k) => view.setFloat64(8 * k, x, true));
    return new Uint8Array(view.buffer);
  };
  const magic = encoder.encode("PAR1"), parts = [magic], chunks = [], schema = [];
  const rows = columns[0].values.length;
  let at = magic.length, total = 0;
  for (const column of columns) {
    const numeric = column.values.every((x) => typeof x === "number"), type = numeric ? 5 : 6;
    const values = plain(column.values, numeric);
    const about = struct([[1, int(rows)], [2, int(0)], [3, int(3)], [4, int(3)]]);
    const page = struct([[1, int(0)], [2, int(values.length)], [3, int(values.length)], [5, about]])[1];
    const size = page.length + values.length;
    const meta = struct([[1, int(type)], [2, list([int(0)])], [3, list([text(column.name)])], [4, int(0)], [5, long(rows)], [6, long(size)], [7, long(size)], [9, long(at)]]);
    chunks.push(struct([[2, long(at)], [3, meta]]));
    schema.push(struct([[1, int(type)], [3, int(0)], [4, text(column.name)], ...(numeric ? [] : [[6, int(0)]])]));
    parts.push(page, values);
    at += size; total += size;
  }
  const root = struct([[4, text("schema")], [5, int(columns.length)]]);
  const group = struct([[1, list(chunks)], [2, long(total)], [3, long(rows)]]);
  const footer = struct([[1, int(1)], [2, list([root, ...schema])], [3, long(rows)], [4, list([group])], [6, text("linkwork")]])[1];
  const length = new DataView(new ArrayBuffer(4));
  length.setUint32(0, footer.length, true);
  return join([...parts, footer, new Uint8Array(length.buffer), magic]);
}
