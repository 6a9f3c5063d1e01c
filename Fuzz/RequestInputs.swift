// A plain release build does not offer internal declarations to other modules.
#if DEBUG || SIGNET_FUZZER
import HTTPTypes
import Hummingbird
import SignetCore

@testable import SignetServer

/// The readers of a request's address and header fields, and of the configuration.
enum RequestInputs {
    /// Reads header fields, one a line, as those of a form: cookies, credentials, versions and media types.
    static func readHeaders(_ bytes: [UInt8]) {
        var fields = HTTPFields()
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let pair = line.split(separator: ":", maxSplits: 1).map(String.init)
            guard pair.count == 2, let name = HTTPField.Name(pair[0]) else { continue }
            fields.append(HTTPField(name: name, value: pair[1]))
        }
        let head = HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/", headerFields: fields)
        let request = Request(head: head, body: RequestBody(buffer: .init()))
        for token in request.sessionTokens("iPlanetDirectoryPro") { precondition(!token.isEmpty, "an empty session token") }
        _ = request.cookies("signet-browser")
        _ = request.saysJSON
        _ = request.credentials("Bearer")
        _ = request.basicClient
        _ = try? AcceptAPIVersion(request.header("accept-api-version") ?? "")
        guard let form = try? Parameters("client_id=app"), let credentials = try? ClientCredentials(request, form) else { return }
        precondition(credentials.id == "app", "credentials of a client that the form does not name")
    }

    /// Reads a path below the context path, and on a second line the realm's parameter.
    ///
    /// An address has the parameters of its route.
    static func readAddress(_ bytes: [UInt8]) {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        let text = lines.first ?? ""
        _ = RealmPath(text).urlPath
        guard let address = Route.Address(path: text, realmParameter: lines.dropFirst().first.map(String.init)) else { return }
        precondition(address.arguments.count == address.route.parameterCount, "an address without a parameter of its route")
        _ = (address.path, address.routerPath)
    }

    /// Reads a configuration file, or reports where its faults are.
    static func readConfiguration(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        do throws(ConfigurationError) {
            _ = try ServerConfiguration(yaml: text)
        } catch {
            precondition(!error.problems.isEmpty, "a configuration is refused without a problem")
        }
    }
}
#endif
