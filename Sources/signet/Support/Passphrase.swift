import ArgumentParser
import SignetCore
import SignetStorage
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Where a passphrase comes from: a descriptor that a program has opened for it, or a person at the terminal. Never an argument
/// and never a variable, which other users and later programs can see.
struct PassphraseSource: Sendable {
    /// The descriptor to read it from, if one was named.
    var descriptor: Int32?
    /// What to ask a person for.
    var prompt = "Passphrase: "
    /// Whether a person has to type it twice, because it is new.
    var isNew = false
    /// The option that names the descriptor.
    var option = "--passphrase-fd"

    private static let longest = 1024

    /// The same source, asked at most once.
    func remembered() -> @Sendable () throws(StoreError) -> Secret {
        let memory = PassphraseMemory(source: self)
        return { () throws(StoreError) in try memory.passphrase() }
    }

    /// A source of a passphrase that is to be used from now on: a person types it twice.
    /// - Parameter option: The option of the verb that names the descriptor.
    static func forNewPassphrase(_ descriptor: Int32?, option: String = "--new-passphrase-fd") -> PassphraseSource {
        PassphraseSource(descriptor: descriptor, prompt: "New passphrase: ", isNew: descriptor == nil, option: option)
    }

    /// Whether there is anybody or anything to ask.
    var isUsable: Bool { descriptor != nil || Terminal.isThere }

    func passphrase() throws(StoreError) -> Secret {
        guard let descriptor else { return try typed() }
        return Secret(try Self.line(of: descriptor))
    }

    private func typed() throws(StoreError) -> Secret {
        guard Terminal.isThere else {
            throw StoreError(
                .keyUnavailable, "read passphrase", "nobody can be asked here; give it on a descriptor: \(option)")
        }
        guard let first = try Terminal.hiddenLine(prompt) else {
            throw Self.givenUp
        }
        guard isNew else { return Secret(first) }
        guard let second = try Terminal.hiddenLine("The same again: ") else { throw Self.givenUp }
        guard second == first else { throw StoreError(.invalid, "read passphrase", "the two are not the same") }
        return Secret(first)
    }

    private static var givenUp: StoreError { StoreError(.givenUp, "read passphrase", "given up") }

    /// What stands before the first end of line.
    private static func line(of descriptor: Int32) throws(StoreError) -> [UInt8] {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while bytes.count <= longest {
            let count = read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw StoreError(
                    .keyUnavailable, "read passphrase", "descriptor \(descriptor) gives none: \(String(cString: strerror(errno)))"
                )
            }
            if count == 0 || byte == UInt8(ascii: "\n") { return bytes }
            bytes.append(byte)
        }
        throw StoreError(
            .keyUnavailable, "read passphrase", "the line on descriptor \(descriptor) is longer than \(longest) bytes")
    }
}

/// A passphrase that was given once in this process.
private final class PassphraseMemory: Sendable {
    private let source: PassphraseSource
    private let known = Mutex<Secret?>(nil)

    init(source: PassphraseSource) { self.source = source }

    func passphrase() throws(StoreError) -> Secret {
        try known.withLock { (known) throws(StoreError) in
            if let known { return known }
            let given = try source.passphrase()
            known = given
            return given
        }
    }
}

/// The terminal that this process was started from, wherever its input and output go.
enum Terminal {
    static var isThere: Bool {
        let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }

    /// A line that a person types unseen; nil when they give up (Ctrl-C, Ctrl-D), or the process is asked to end.
    /// - Throws: `StoreError` for a terminal that would show it.
    static func hiddenLine(_ prompt: String) throws(StoreError) -> [UInt8]? {
        let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let line = Interrupt.noting { isAskedToEnd in
            Result { () throws(Failure) in
                // Keys that would end the process are read like others, so that the echo comes back in every case.
                let quiet = try QuietTerminal(descriptor, keys: .single)
                defer { quiet?.restore() }
                say(prompt, on: descriptor)
                defer { say("\n", on: descriptor) }
                return self.line(on: descriptor, unless: isAskedToEnd)
            }
        }
        switch line {
        case .success(let line): return line
        case .failure(let failure): throw StoreError(.keyUnavailable, "read passphrase", failure.message)
        }
    }

    private static func line(on descriptor: Int32, unless isAskedToEnd: () -> Bool) -> [UInt8]? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while Keyboard.isReadable(descriptor, unless: isAskedToEnd) {
            let count = read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return nil }
            switch byte {
            case 0x03, 0x04: return nil
            case 0x0A, 0x0D: return bytes
            case 0x08, 0x7F: removeLastCharacter(of: &bytes)
            default: bytes.append(byte)
            }
        }
        return nil
    }

    /// A character of UTF-8 may be several bytes: those that go on with one begin with the bits 10.
    private static func removeLastCharacter(of bytes: inout [UInt8]) {
        while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
    }

    private static func say(_ text: String, on descriptor: Int32) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }
}

/// How the verbs that open the vault may be helped.
struct VaultOptions: ParsableArguments {
    @Option(name: .customLong("passphrase-fd"), help: "Read the vault's passphrase from this open file descriptor.")
    var passphraseDescriptor: Int32?

    var passphrase: PassphraseSource { PassphraseSource(descriptor: passphraseDescriptor) }
}
