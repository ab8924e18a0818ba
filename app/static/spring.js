// The gate as a mass on a spring with a damper: the mass stands at u(t), the hook it is pulled to at u*(t).
// A stiffer spring (omega_n) is drawn thicker, a stronger damper (zeta) fuller.

const clamp = (v, a, b) => Math.min(b, Math.max(a, v));
const at = (series, t) => {
  const i = clamp(Math.floor(t), 0, series.length - 1), j = Math.min(i + 1, series.length - 1);
  return series[i] + (series[j] - series[i]) * (t - Math.floor(t));
};
const sigmoid = (u) => 1 / (1 + Math.exp(-u));

export function drawSpring(painter, spring, t, palette, font) {
  const { context: c } = painter;
  const sheet = painter.clear();
  if (!sheet) return;
  const [w, h] = sheet;
  const [lo, hi] = spring.range;
  const wall = 26, left = Math.max(150, w * 0.2), right = w - 46;
  const x = (u) => left + ((right - left) * (clamp(u, lo, hi) - lo)) / (hi - lo);
  const rail = h - 42, middle = rail - 46;
  const [u, target] = [at(spring.u, t), at(spring.u_star, t)];
  const size = 52, mass = x(u);

  // The rail, with u above and the gate it means below.
  c.strokeStyle = palette.grid;
  c.lineWidth = 1;
  c.font = `11px ${font}`;
  c.textAlign = "center";
  c.fillStyle = palette.muted;
  c.beginPath();
  c.moveTo(wall, rail + 0.5);
  c.lineTo(right + 30, rail + 0.5);
  c.stroke();
  for (let v = Math.ceil(lo); v <= hi; v++) {
    c.beginPath();
    c.moveTo(x(v), rail);
    c.lineTo(x(v), rail + 5);
    c.stroke();
    c.textBaseline = "top";
    c.fillText(`${v}`.replace("-", "\u2212"), x(v), rail + 7);
    c.fillText(sigmoid(v).toFixed(2), x(v), rail + 21);
  }
  c.textAlign = "left";
  c.fillText("u", wall, rail + 7);
  c.fillText("g = σ(u)", wall, rail + 21);

  c.fillStyle = palette.muted;
  c.fillRect(wall - 7, middle - 42, 7, rail - middle + 42);

  // Spring above, damper below, both from the wall to the mass.
  const end = mass - size / 2, coils = 18;
  c.strokeStyle = palette.text;
  c.lineWidth = clamp(1 + 1.6 * Math.log10(spring.omega_n / 0.02), 1, 4.5);
  c.lineJoin = "round";
  c.beginPath();
  c.moveTo(wall, middle - 14);
  c.lineTo(wall + 14, middle - 14);
  for (let i = 0; i < coils; i++) {
    const px = wall + 14 + ((end - wall - 28) * (i + 0.5)) / coils;
    c.lineTo(px, middle - 14 + (i % 2 ? 9 : -9));
  }
  c.lineTo(end - 14, middle - 14);
  c.lineTo(end, middle - 14);
  c.stroke();
  c.lineWidth = 1.5;
  const pot = wall + 40, potEnd = Math.max(pot + 50, left - 40);
  c.fillStyle = palette.text;
  c.globalAlpha = clamp(0.08 + 0.25 * Math.log10(spring.zeta / 0.05), 0.08, 0.6);
  c.fillRect(pot, middle + 8, potEnd - pot, 22);
  c.globalAlpha = 1;
  c.beginPath();
  c.moveTo(wall, middle + 19);
  c.lineTo(pot, middle + 19);
  c.moveTo(potEnd, middle + 8);
  c.lineTo(pot, middle + 8);
  c.lineTo(pot, middle + 30);
  c.lineTo(potEnd, middle + 30);
  const piston = clamp(end - (left - 60), pot + 8, potEnd - 8);
  c.moveTo(piston, middle + 10);
  c.lineTo(piston, middle + 28);
  c.moveTo(piston, middle + 19);
  c.lineTo(end, middle + 19);
  c.stroke();

  // Where the network pulls it, and the mass itself.
  c.strokeStyle = palette.command;
  c.lineWidth = 2;
  c.setLineDash([4, 3]);
  c.beginPath();
  c.moveTo(x(target), middle - 48);
  c.lineTo(x(target), rail);
  c.stroke();
  c.setLineDash([]);
  c.fillStyle = palette.command;
  c.textAlign = "center";
  c.textBaseline = "bottom";
  c.fillText("u* pulls here", clamp(x(target), 50, w - 50), middle - 50);
  c.fillStyle = palette.gate;
  c.beginPath();
  c.roundRect(mass - size / 2, middle - size / 2, size, size + 20, 6);
  c.fill();
  c.fillStyle = palette.ongate;
  c.textBaseline = "middle";
  c.font = `600 14px ${font}`;
  c.fillText(sigmoid(u).toFixed(2), mass, middle + 3);
  c.font = `11px ${font}`;
  c.fillText("gate", mass, middle + 20);
  c.fillStyle = palette.muted;
  c.textAlign = "left";
  c.textBaseline = "top";
  c.fillText(`frame ${Math.floor(t) + spring.first}`, wall, 4);
}
