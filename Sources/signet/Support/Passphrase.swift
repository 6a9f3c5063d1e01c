import ArgumentParser
import Foundation
import SignetCore
import SignetStorage

/// The source of a passphrase: a file descriptor that another program opened, or the user at the terminal.
///
/// It is never an argument or an environment variable, which other users and child processes can read.
struct PassphraseSource: Sendable {
    /// The descriptor to read from; nil for the terminal.
    var descriptor: Int32?
    /// The prompt at the terminal.
    var prompt: TerminalText = "Passphrase: "
    /// True if the user must type the passphrase twice, because it is new.
    var isNew = false
    /// The option that names the descriptor, for error messages.
    var option = "--passphrase-fd"
    /// The operation that error messages name.
    var operation = "read passphrase"
    /// Returns the lines above the prompt at the terminal; nil for none.
    ///
    /// It is called only when the user is asked, because some of these lines need a look at the TPM and the keyring.
    var introduction: (@Sendable () -> TerminalText)?
    /// The thing that a new passphrase protects, such as `the vault`; nil for a passphrase that exists already.
    ///
    /// A new passphrase that is easy to guess is reported with a warning.
    var protectedThing: TerminalText?

    /// The number of times that a user at a terminal may type the passphrase of a vault or a file.
    static let maxTries = 3

    private static let maxLength = 1024

    /// Returns a memory that asks this source at most once and remembers the passphrase.
    func remembered() -> PassphraseMemory { PassphraseMemory(source: self) }

    /// Returns a source for a new passphrase of the vault.
    /// - Parameters:
    ///   - descriptor: The descriptor to read from; nil for the terminal.
    ///   - option: The command's option that names the descriptor.
    /// - Returns: A source that makes the user type the passphrase twice at the terminal.
    static func forNewPassphrase(_ descriptor: Int32?, option: String = "--new-passphrase-fd") -> PassphraseSource {
        PassphraseSource(
            descriptor: descriptor, prompt: "New passphrase: ", isNew: descriptor == nil, option: option,
            protectedThing: "the vault")
    }

    /// True when there is a descriptor or a terminal to read from.
    var isUsable: Bool { descriptor != nil || Terminal.isThere }

    /// True when the user types the passphrase at the terminal, and so may mistype it.
    var isTyped: Bool { descriptor == nil }

    func passphrase() throws(StoreError) -> Secret {
        let given: Secret
        if let descriptor { given = Secret(try line(of: descriptor)) } else { given = try typed() }
        if let protectedThing { PassphraseStrength.warn(about: given, of: protectedThing) }
        return given
    }

    private func typed() throws(StoreError) -> Secret {
        guard Terminal.isThere else {
            throw StoreError(
                .keyUnavailable, operation, "there is no terminal to ask at; pass it on a file descriptor: \(option)")
        }
        let question = introduction.map { "\($0())\n\(prompt)" as TerminalText } ?? prompt
        guard let first = try Terminal.hiddenLine(question, for: operation) else { throw cancelled }
        guard isNew else { return Secret(first) }
        guard let second = try Terminal.hiddenLine("Repeat the passphrase: ", for: operation) else { throw cancelled }
        guard second == first else { throw StoreError(.invalid, operation, "the two passphrases are different") }
        return Secret(first)
    }

    private var cancelled: StoreError { StoreError(.cancelled, operation, "canceled at the prompt") }

    /// Returns the first line of the descriptor, without its line ending.
    private func line(of descriptor: Int32) throws(StoreError) -> [UInt8] {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while bytes.count <= Self.maxLength {
            let count = read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw StoreError(
                    .keyUnavailable, operation,
                    "descriptor \(descriptor) cannot be read: \(String(cString: strerror(errno)))"
                )
            }
            if count == 0 || byte == UInt8(ascii: "\n") { return bytes }
            bytes.append(byte)
        }
        throw StoreError(
            .keyUnavailable, operation, "the line on descriptor \(descriptor) is longer than \(Self.maxLength) bytes")
    }
}

/// A passphrase that is read once and remembered for this process.
final class PassphraseMemory: Sendable {
    private let source: PassphraseSource
    private let known = Mutex<Secret?>(nil)

    init(source: PassphraseSource) { self.source = source }

    /// The passphrase that the user has typed at the terminal; nil before that, and for a source that is not the terminal.
    var typed: Secret? { source.isTyped ? known.withLock { $0 } : nil }

    func passphrase() throws(StoreError) -> Secret {
        try known.withLock { (known) throws(StoreError) in
            if let known { return known }
            let given = try source.passphrase()
            known = given
            return given
        }
    }
}

/// The controlling terminal of this process, even if its input and output are redirected.
enum Terminal {
    static var isThere: Bool {
        let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }

    /// Reads a line without echo.
    ///
    /// - Parameters:
    ///   - prompt: The text before the line.
    ///   - operation: The operation that the error names.
    /// - Returns: The line; nil when the user presses Ctrl-C or Ctrl-D, or a signal asks the process to end.
    /// - Throws: `StoreError` for a terminal whose echo cannot be turned off.
    static func hiddenLine(_ prompt: TerminalText, for operation: String) throws(StoreError) -> [UInt8]? {
        let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let line = Interrupt.catchingSignals { isAskedToEnd in
            Result { () throws(Failure) in
                // Keys that would send a signal are read as characters, so that the echo is restored in every case.
                let quiet = try QuietTerminal(descriptor, keys: .single)
                defer { quiet?.restore() }
                Console.write(prompt, to: descriptor)
                defer { Console.write("\n", to: descriptor) }
                return self.line(on: descriptor, unless: isAskedToEnd)
            }
        }
        switch line {
        case .success(let line): return line
        case .failure(let failure): throw StoreError(.keyUnavailable, operation, failure.message)
        }
    }

    private static func line(on descriptor: Int32, unless isAskedToEnd: () -> Bool) -> [UInt8]? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while TerminalInput.isReadable(descriptor, unless: isAskedToEnd) {
            let count = read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return nil }
            switch byte {
            case 0x03, 0x04: return nil
            case 0x0A, 0x0D: return bytes
            case 0x08, 0x7F:
                // The last character may be several bytes in UTF-8: continuation bytes begin with the bits 10.
                while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
            default: bytes.append(byte)
            }
        }
        return nil
    }
}

/// The options of commands that open the vault.
struct VaultOptions: ParsableArguments {
    @Option(
        name: .customLong("passphrase-fd"),
        help: ArgumentHelp("Read the vault's passphrase from this open file descriptor.", valueName: "fd"))
    var passphraseDescriptor: Int32?

    var passphrase: PassphraseSource { PassphraseSource(descriptor: passphraseDescriptor) }
}
