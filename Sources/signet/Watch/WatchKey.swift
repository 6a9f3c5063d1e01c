/// A key that the user pressed in `signet watch`.
enum WatchKey: Sendable, Hashable {
    /// A character that is shown.
    case text(Character)
    /// A character that the user pasted. It is text in every case, never a command.
    case pasted(Character)
    case enter, escape, tab, backspace
    /// Ctrl-U: clears what was typed.
    case clear
    case up, down, pageUp, pageDown, home, end
    /// Ctrl-C.
    case interrupt
    /// Ctrl-Z.
    case suspend
    /// Ctrl-L: draws the screen again.
    case redraw
}

/// Reads keys from the bytes of a terminal, which may arrive in any pieces.
///
/// It knows the keys of xterm, as ECMA-48 writes control sequences, and bracketed paste. Keys that it does not know are left out, and
/// so are bytes that are not UTF-8.
struct WatchKeyReader: Sendable {
    private enum State: Sendable, Equatable {
        case text
        /// Part of a character of several bytes.
        case character([UInt8], missing: Int)
        /// The key Escape, or the beginning of a sequence.
        case escape
        /// A control sequence after `ESC [`.
        case sequence([UInt8])
        /// The last byte after `ESC O`.
        case shift
    }

    private var state = State.text
    private var isPasting = false

    /// The most bytes of a control sequence that are kept.
    ///
    /// The rest of a longer one is skipped.
    private static let sequenceLimit = 16

    /// True after the byte of the key Escape, which may also be the beginning of a sequence.
    ///
    /// When no byte follows in some milliseconds, call ``timeout()``.
    var mayBeEscape: Bool { state == .escape }

    /// Reads the next bytes.
    /// - Returns: The keys that are complete now.
    mutating func keys(from bytes: some Sequence<UInt8>) -> [WatchKey] {
        var keys: [WatchKey] = []
        for byte in bytes { take(byte, &keys) }
        return keys
    }

    /// Returns the key Escape if no byte has followed its byte.
    mutating func timeout() -> [WatchKey] {
        guard state == .escape else { return [] }
        state = .text
        return isPasting ? [] : [.escape]
    }

    private mutating func take(_ byte: UInt8, _ keys: inout [WatchKey]) {
        switch state {
        case .text: begin(byte, &keys)
        case .character(let bytes, let missing):
            guard 0x80...0xBF ~= byte else {
                // The character before was cut off, and this byte is another one.
                state = .text
                return begin(byte, &keys)
            }
            let longer = bytes + [byte]
            guard missing == 1 else {
                state = .character(longer, missing: missing - 1)
                return
            }
            state = .text
            if let text = String(validating: longer, as: UTF8.self) { add(text, &keys) }
        case .escape:
            switch byte {
            case UInt8(ascii: "["): state = .sequence([])
            case UInt8(ascii: "O"): state = .shift
            case 0x1B: if !isPasting { keys.append(.escape) }
            // Alt with a key, which has no meaning here.
            default: state = .text
            }
        case .sequence(let bytes):
            guard 0x40...0x7E ~= byte else {
                // A control character or the byte of another sequence ends this one.
                guard 0x20...0x3F ~= byte else {
                    state = .text
                    return begin(byte, &keys)
                }
                if bytes.count < Self.sequenceLimit { state = .sequence(bytes + [byte]) }
                return
            }
            state = .text
            end(bytes, byte, &keys)
        case .shift:
            state = .text
            end([], byte, &keys)
        }
    }

    /// Reads a byte outside of sequences and characters.
    private mutating func begin(_ byte: UInt8, _ keys: inout [WatchKey]) {
        switch byte {
        case 0x1B: state = .escape
        case 0x20..<0x7F: add(String(UnicodeScalar(byte)), &keys)
        case 0xC2...0xDF: state = .character([byte], missing: 1)
        case 0xE0...0xEF: state = .character([byte], missing: 2)
        case 0xF0...0xF4: state = .character([byte], missing: 3)
        default:
            // Ctrl-C ends the view also when the terminal does not say that a paste is over.
            if let key = Self.control(byte), !isPasting || key == .interrupt { keys.append(key) }
        }
    }

    private func add(_ text: String, _ keys: inout [WatchKey]) {
        for scalar in text.unicodeScalars where scalar.isVisible {
            keys.append(isPasting ? .pasted(Character(scalar)) : .text(Character(scalar)))
        }
    }

    private static func control(_ byte: UInt8) -> WatchKey? {
        switch byte {
        case 0x03: .interrupt
        case 0x08, 0x7F: .backspace
        case 0x09: .tab
        case 0x0A, 0x0D: .enter
        case 0x0C: .redraw
        case 0x0E: .down
        case 0x10: .up
        case 0x15: .clear
        case 0x1A: .suspend
        default: nil
        }
    }

    /// Takes a whole control sequence: its parameters and its last byte.
    private mutating func end(_ parameters: [UInt8], _ last: UInt8, _ keys: inout [WatchKey]) {
        let number = Int(String(decoding: parameters.prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self))
        if last == UInt8(ascii: "~"), number == 200 || number == 201 {
            isPasting = number == 200
        } else if !isPasting, let key = Self.key(number ?? 0, last) {
            keys.append(key)
        }
    }

    private static func key(_ number: Int, _ last: UInt8) -> WatchKey? {
        switch (UnicodeScalar(last), number) {
        case ("A", _): .up
        case ("B", _): .down
        case ("H", _), ("~", 1), ("~", 7): .home
        case ("F", _), ("~", 4), ("~", 8): .end
        case ("~", 5): .pageUp
        case ("~", 6): .pageDown
        // The tab key with Shift: there are only two sections.
        case ("Z", _): .tab
        // Enter of the number pad.
        case ("M", _): .enter
        default: nil
        }
    }
}
