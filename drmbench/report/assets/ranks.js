// Ranks of methods over data sets, and bootstrap intervals over origins.

// The ranks of values, best first; equal ones share the mean of their ranks.
const rankLine = (values, sign) =>
  values.map((value) => {
    const better = values.filter((other) => sign * other > sign * value).length;
    const equal = values.filter((other) => other === value).length;
    return better + (equal + 1) / 2;
  });

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

const median = (values) => {
  const known = values.filter((value) => value !== null).sort((a, b) => a - b);
  if (!known.length) return null;
  const middle = Math.floor(known.length / 2);
  return known.length % 2 ? known[middle] : (known[middle - 1] + known[middle]) / 2;
};

// Mulberry32: always the same numbers, so the same view has the same intervals.
const uniform = (seed) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
};

const DRAWS = 1000;

// 95 % intervals of the means of columns: origins are drawn, each with all its lines.
// One origin tells nothing of how far means vary.
const intervals = (lines, origins) => {
  const groups = new Map();
  lines.forEach((line, index) => {
    const group = groups.get(origins[index]) ?? { sums: line.map(() => 0), size: 0 };
    line.forEach((value, column) => { group.sums[column] += value; });
    group.size += 1;
    groups.set(origins[index], group);
  });
  const every = [...groups.values()];
  if (every.length < 2) return lines[0]?.map(() => [NaN, NaN]) ?? [];
  const next = uniform(0);
  const means = lines[0].map(() => []);
  for (let draw = 0; draw < DRAWS; draw += 1) {
    const sums = lines[0].map(() => 0);
    let size = 0;
    for (let k = 0; k < every.length; k += 1) {
      const group = every[Math.floor(next() * every.length)];
      size += group.size;
      group.sums.forEach((value, column) => { sums[column] += value; });
    }
    sums.forEach((value, column) => means[column].push(value / size));
  }
  return means.map((drawnMeans) => {
    drawnMeans.sort((a, b) => a - b);
    return [drawnMeans[Math.floor(0.025 * DRAWS)], drawnMeans[Math.ceil(0.975 * DRAWS) - 1]];
  });
};

// Rank the methods that have a score on every data set; the others are counted.
// `entries` are data sets with `scores` and `seconds` by method, `origin` and `sign`.
const rankMethods = (entries, methods) => {
  const has = (method) => entries.filter((one) => (one.scores[method] ?? null) !== null).length;
  const whole = methods.filter((method) => has(method) === entries.length);
  const lines = entries.map((one) =>
    rankLine(whole.map((method) => one.scores[method]), one.sign));
  const ends = intervals(lines, entries.map((one) => one.origin));
  const ranked = whole.map((method, column) => ({
    method,
    rank: mean(lines.map((line) => line[column])),
    low: ends[column][0],
    high: ends[column][1],
    score: mean(entries.map((one) => one.scores[method])),
    wins: lines.reduce((sum, line) => {
      const best = Math.min(...line);
      const shared = line.filter((rank) => rank === best).length;
      return sum + (line[column] === best ? 1 / shared : 0);
    }, 0),
    seconds: median(entries.map((one) => one.seconds[method] ?? null)),
    sets: entries.length,
  }));
  ranked.sort((a, b) => a.rank - b.rank || b.score - a.score);
  ranked.forEach((one, index) => { one.place = index + 1; });
  const others = methods.filter((method) => !whole.includes(method) && has(method) > 0);
  return [...ranked, ...others.map((method) => ({ method, sets: has(method) }))];
};
