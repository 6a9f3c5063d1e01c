import ArgumentParser
import Foundation
import SignetServer

/// The TLS options of `signet serve`.
struct ServeTLSOptions: ParsableArguments {
    @Flag(
        name: .customLong("tls"),
        help: "Use https with the server's own certificate authority, created once; its certificate is named at the start.")
    var isOn = false

    @Option(
        name: .customLong("tls-directory"),
        help: ArgumentHelp(
            "Where that authority is; without it signet-server/tls in the place for data.", valueName: "directory"),
        completion: .directory)
    var directory: String?

    @Option(
        name: .customLong("tls-certificate"),
        help: ArgumentHelp("Speak https, with this certificate and those above it, in PEM.", valueName: "file"),
        completion: .file())
    var certificate: String?

    @Option(
        name: .customLong("tls-key"), help: ArgumentHelp("Its key, in PEM, of mode 0600.", valueName: "file"), completion: .file()
    )
    var key: String?

    func validate() throws {
        guard (certificate == nil) == (key == nil) else {
            throw ValidationError("--tls-certificate and --tls-key belong together.")
        }
        guard certificate == nil || !isOn && directory == nil else {
            throw ValidationError("--tls and --tls-certificate exclude each other: use one of them.")
        }
    }

    /// Returns the TLS settings of the options, or nil to use those of the configuration.
    func tls() throws -> ServerTLS? {
        if let certificate, let key { return .files(certificate: certificate, key: key) }
        guard isOn || directory != nil else { return nil }
        return .ownAuthority(directory: try directory ?? Self.defaultDirectory())
    }

    private static func defaultDirectory() throws -> String {
        let environment = ProcessInfo.processInfo.environment
        if let state = environment["STATE_DIRECTORY"]?.split(separator: ":").first, state.hasPrefix("/") { return "\(state)/tls" }
        if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return "\(data)/signet-server/tls" }
        if let home = environment["HOME"], home.hasPrefix("/") { return "\(home)/.local/share/signet-server/tls" }
        throw Failure(.usage, "noHome", "no directory for the certificate authority is known: set one with --tls-directory")
    }
}
