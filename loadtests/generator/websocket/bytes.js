// Compare the bytes of a message.

/** @param {Buffer} data @param {number} start @param {number} end @param {Buffer} expected */
export function equals(data, start, end, expected) {
  return end - start === expected.length && data.compare(expected, 0, expected.length, start, end) === 0;
}

/** @param {Buffer} data @param {number} start @param {number} end @param {Buffer} prefix */
export function beginsWith(data, start, end, prefix) {
  const { length } = prefix;
  return end - start >= length && data.compare(prefix, 0, length, start, start + length) === 0;
}

/** Return the bytes as quoted text for an error message. */
export function quoted(/** @type {Buffer} */ data, /** @type {number} */ start, /** @type {number} */ end) {
  const text = JSON.stringify(data.toString('utf8', start, Math.min(end, start + 80)));
  return end - start > 80 ? `${text}...` : text;
}
