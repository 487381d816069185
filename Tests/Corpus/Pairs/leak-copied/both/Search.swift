final class Search {
  var found: (() -> Void)?
  var hits: [Int] = [1, 2]
}

@inline(never) func search(_ text: Int) {
  let search = Search()
  search.found = { search.hits.append(text) }
  search.found?()
}
