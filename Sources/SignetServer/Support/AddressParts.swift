/// The parts of an address as they are written, without its fragment.
///
/// The separators are ASCII, so the bytes are searched: an address with the request of a client in it has hundreds of characters.
struct AddressParts: Sendable, Hashable {
    let path: Substring
    /// The query; nil for an address without a question mark.
    let query: Substring?

    init(_ address: Substring) {
        let text = address[..<(address.utf8.firstIndex(of: UInt8(ascii: "#")) ?? address.endIndex)]
        guard let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")) else {
            (path, query) = (text, nil)
            return
        }
        (path, query) = (text[..<mark], text[text.utf8.index(after: mark)...])
    }
}

extension StringProtocol {
    /// Returns the parts between an ASCII separator that are not empty.
    func fields(separatedBy separator: UInt8) -> [Substring] {
        Substring(self).utf8.split(separator: separator).map { Substring($0) }
    }

    /// Returns the text before an ASCII character, and the text after it; nil when it has no such character.
    func halves(at separator: UInt8) -> (before: SubSequence, after: SubSequence)? {
        utf8.firstIndex(of: separator).map { (self[..<$0], self[utf8.index(after: $0)...]) }
    }
}
