import ArgumentParser
import SignetCore
import SignetNetwork
import SignetOAuth

struct Check: NetworkedCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Compare an OAuth 2.0 or OpenID provider with RFC 9700.",
        discussion: """
            Reads the metadata and the keys of the provider, and prints the recommendations of RFC 9700 (Best Current Practice for \
            OAuth 2.0 Security) by section: 'pass', 'warn' or 'fail', with the reason. It needs neither a login nor a vault. The exit \
            code is 1 if a line says 'fail', with --strict also if one says 'warn'.

            --active also sends what an attacker would send, after asking: requests with redirect URIs that resemble the registered \
            one, without PKCE, and for an implicit grant. With --browser you log in four times, and signet tries a code without its verifier, \
            a code twice, a used refresh token, and a code whose challenge was removed. Use a client of your own, at a provider whose \
            operator allows it: the requests appear in its log, and a provider may lock the client or the account.

            EXAMPLES:
              signet check https://id.example.com/realms/staff
              signet check https://id.example.com/realms/staff --json
              signet check https://id.example.com/realms/staff \\
                --active --client-id app --browser
            """)

    @Argument(help: "The issuer, or the address of its metadata.")
    var issuer: String

    @Flag(help: "Also send the requests of an attacker, after asking. Needs --client-id.")
    var active = false

    @Option(name: .customLong("client-id"), help: ArgumentHelp("A client of your own, for --active.", valueName: "id"))
    var clientID: String?

    @Option(
        name: .customLong("redirect-uri"),
        help: ArgumentHelp(
            "The registered redirect URI of the client. Default: \(LoginProfile.defaultRedirectURI), with any port.",
            valueName: "address"))
    var redirectURI: String?

    @Option(
        name: .customLong("client-secret-file"),
        help: ArgumentHelp(
            "A file of mode 0600 with the secret of the client, for --browser; '-' for the first line of standard input.",
            valueName: "file"), completion: .file())
    var clientSecretFile: String?

    @Option(help: "OAuth 2.0 scope to request; can be repeated. Default: openid.")
    var scope: [String] = []

    @Flag(help: "Log in with the browser of this desktop, for the requests that need a code. Needs --active.")
    var browser = false

    @Option(
        name: .customLong("timeout"),
        help: ArgumentHelp("How long you have for a login in the browser: 300 without it.", valueName: "seconds"))
    var seconds = 300

    @Flag(help: "Send the requests of an attacker without asking.")
    var yes = false

    @Flag(help: "Exit with 1 for warnings too.")
    var strict = false

    @OptionGroup var plainHTTP: PlainHTTPOptions

    @OptionGroup var trust: TrustOptions

    @Flag(
        help:
            "Print JSON: issuer, document, findings with id, section, result and reason, and a summary with the number of each result."
    )
    var json = false

    func validate() throws {
        guard active == (clientID != nil) else {
            throw ValidationError("--active and --client-id need each other: the requests are those of a client of yours.")
        }
        guard active || redirectURI == nil && clientSecretFile == nil && scope.isEmpty && !browser && !yes else {
            throw ValidationError(
                "--redirect-uri, --client-secret-file, --scope, --browser and --yes are for the requests of --active.")
        }
        guard browser || clientSecretFile == nil else {
            throw ValidationError("--client-secret-file is for the requests for tokens, which need --browser.")
        }
        guard (1...86_400).contains(seconds) else {
            throw ValidationError("--timeout takes a number of seconds from 1 to 86400.")
        }
        if let redirectURI {
            guard redirectURI.contains("://"), redirectURI.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                throw ValidationError("--redirect-uri takes an address with a scheme.")
            }
            guard !browser || LoopbackListener.canListen(at: redirectURI) else {
                throw ValidationError(
                    "With --browser, --redirect-uri must be on this machine: \(LoginProfile.defaultRedirectURI).")
            }
        }
    }

    func run() async throws {
        let secret = try clientSecretFile.map(ClientSecretSource.secret(inFile:))
        let authorities = AsyncHTTPTransport.Authorities(file: try trust.authorityFile() ?? TrustOptions.environmentFile())
        let report = try await Interrupt.ending {
            try await AsyncHTTPTransport(authorities: authorities).use { transport in
                try await self.report(over: transport, secret: secret)
            }
        }
        if json {
            Console.line(JSONText.line(report.json))
        } else {
            for line in report.lines { Console.line(line) }
        }
        guard report.count(.fail) == 0, !strict || report.count(.warn) == 0 else { throw ExitCode.failure }
    }

    private func report(over transport: any HTTPTransport, secret: Secret?) async throws -> CheckReport {
        let metadata = try await ProviderMetadata.requested(
            of: LoginProfile.issuer(issuer), over: transport, policy: plainHTTP.policy)
        var findings = MetadataRules(metadata: metadata).findings
        if let address = metadata.members["jwks_uri"]?.string, let keys = try? Endpoint(address, policy: plainHTTP.policy) {
            findings.append(KeySetRules(response: try await transport.send(HTTPRequest("GET", keys.url))).finding)
        }
        if let clientID {
            findings += try await activeFindings(of: clientID, secret, metadata, over: transport)
        }
        return CheckReport(
            issuer: metadata.members["issuer"]?.string ?? issuer, document: metadata.address, findings: findings)
    }

    // MARK: Requests of an attacker

    private func activeFindings(
        of clientID: String, _ secret: Secret?, _ metadata: ProviderMetadata, over transport: any HTTPTransport
    ) async throws -> [CheckFinding] {
        if !yes { try await confirmation(clientID).ask() }
        let redirectURI = redirectURI ?? LoginProfile.defaultRedirectURI
        let scope = (scope.isEmpty ? ["openid"] : scope).joined(separator: " ")
        let authorize = try address("authorization_endpoint", of: metadata)
        let findings = try await AuthorizationProbe(
            endpoint: authorize, clientID: clientID, redirectURI: redirectURI, scope: scope,
            issuer: metadata.members["issuer"]?.string ?? "",
            namesIssuer: metadata.members["authorization_response_iss_parameter_supported"]?.bool == true, transport: transport
        ).findings()
        guard browser else {
            let reason = "needs the codes of logins: --browser"
            return findings + [
                CheckFinding("code-requests", .codeGrant, .skipped, reason),
                CheckFinding("refresh-requests", .refreshTokens, .skipped, reason),
            ]
        }
        let codes = BrowserCodes(
            endpoint: authorize, clientID: clientID, redirectURI: redirectURI, scope: scope, timeout: .seconds(seconds))
        let client = OAuthClient(
            clientID: clientID, redirectURI: redirectURI, scopes: [],
            authentication: secret.map { .clientSecretBasic($0) } ?? .none)
        return try await findings
            + GrantProbe(
                endpoint: address("token_endpoint", of: metadata),
                revocation: metadata.members["revocation_endpoint"] == nil ? nil : address("revocation_endpoint", of: metadata),
                client: client, transport: transport
            ) { fields in try await codes.code(fields) }.findings()
    }

    private func address(_ name: String, of metadata: ProviderMetadata) throws -> String {
        guard let address = metadata.members[name]?.string else {
            throw Failure(.badInput, "check.metadata", "the metadata has no \(name)", part: name)
        }
        return try Endpoint(address, policy: plainHTTP.policy).url
    }

    private func confirmation(_ clientID: String) -> Confirmation {
        Confirmation(
            warning:
                "This sends requests as an attacker would to \(issuer), as the client \(clientID). Its operator must allow that, and it may lock the client or the account.",
            action: "send them", withoutTerminal: "requests of an attacker may lock the client or the account",
            declined: "no request of an attacker was sent")
    }
}
