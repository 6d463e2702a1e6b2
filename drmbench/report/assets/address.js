// Addresses of views: #name?key=value after the name of the file.

const readAddress = () => {
  const [name, query = ""] = location.hash.slice(1).split(/\?(.*)/s);
  return { name: decodeURIComponent(name), query: Object.fromEntries(new URLSearchParams(query)) };
};

const address = (name, query = {}) => {
  const given = Object.entries(query).filter(([, value]) => value !== "" && value !== undefined);
  const text = new URLSearchParams(given).toString();
  return `#${name}${text ? `?${text}` : ""}`;
};

// Say where the reader is without a new step back.
const settle = (name, query) => history.replaceState(null, "", address(name, query));

// Open a part of the page, and give the place that its content goes to.
const openPart = (name) => {
  const part = byId(name);
  const place = part.querySelector(".filled");
  place.dataset.asked = "yes"; // opening it by hand would ask for its first view
  part.open = true;
  return place;
};

// Fill a place with what a promise gives, or say in a sentence why there is nothing.
const fill = async (place, promise) => {
  try {
    place.replaceChildren(...[await promise].flat());
  } catch (error) {
    place.replaceChildren(element("p", { role: "alert" }, error.message));
  }
};
