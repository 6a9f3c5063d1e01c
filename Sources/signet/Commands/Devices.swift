import ArgumentParser
import SignetAuthenticator
import SignetCore
import SignetJourney

struct Devices: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices", abstract: "List, rename and remove your devices at the server.",
        discussion: """
            These are the devices that an AM knows of you: those for one-time codes and push messages, bound devices, passkeys, and \
            the profiles of devices. 'signet accounts' lists what is on this machine.

            EXAMPLES:
              signet devices
              signet devices rename Phone 'Work phone'
              signet devices remove 'Old phone'
            """,
        subcommands: [List.self, Rename.self, Remove.self], defaultSubcommand: List.self)

    struct List: NetworkedCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List your devices at the server. This is what 'signet devices' does.",
            discussion: """
                A login with a journey has the session that the server asks for; a login with --browser or --device has none, and \
                ends with 77, as does a session that has ended.

                EXAMPLES:
                  signet devices
                  signet devices list --kind push --json
                """)

        @Option(help: "List only the devices of this kind.")
        var kind: DeviceKindName?

        @OptionGroup var profile: ProfileOptions

        @Flag(help: "Print JSON, one device a line.")
        var json = false

        func run() async throws {
            let (session, profile) = try profile.open()
            let devices = try await profile.devices(kind?.kind, session)
            if devices.isEmpty, !json { Console.line("No devices at \(profile.url).") }
            for line in json ? devices.map({ JSONText.line($0.json) }) : DeviceTable(devices).lines { Console.line(line) }
        }
    }

    struct Rename: NetworkedCommand {
        static let configuration = CommandConfiguration(
            commandName: "rename", abstract: "Give one of your devices at the server another name.",
            discussion: """
                Ends with 66 when there is no such device, and with 65 when several have the name. Some servers do not rename \
                devices for codes and push messages; that ends with 77.

                EXAMPLES:
                  signet devices rename Phone 'Work phone'
                  signet devices rename Phone Mine --kind push
                """)

        @OptionGroup var target: DeviceTarget

        @Argument(help: "The new name.")
        var name: String

        func run() async throws {
            let (session, profile) = try target.profile.open()
            let device = try await target.found(at: profile, session)
            let name = name
            let renamed = try await profile.useDevices(session) { client in try await client.rename(device, to: name) }
            target.show(renamed, "Renamed \(device.name) to \(renamed.name)")
        }
    }

    struct Remove: NetworkedCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: "Remove one of your devices at the server, after asking.",
            discussion: """
                You cannot log in with the device any more, and it cannot be brought back: register it again. What is on this machine \
                stays; 'signet accounts remove' removes it. Ends with 66 when there is no such device, and with 65 when several have \
                the name.

                EXAMPLES:
                  signet devices remove 'Old phone'
                  signet devices remove Phone --kind push --yes
                """)

        @OptionGroup var target: DeviceTarget

        @Flag(help: "Remove it without asking.")
        var yes = false

        func run() async throws {
            let (session, profile) = try target.profile.open()
            let device = try await target.found(at: profile, session)
            if !yes {
                let title: TerminalText = "\(device.title) at \(profile.url)"
                try await Confirmation(
                    warning: "This removes \(title). You cannot log in with it any more.", action: "remove it",
                    withoutTerminal: "removing \(title) can't be undone", declined: "nothing was removed"
                ).ask()
            }
            try await profile.useDevices(session) { client in try await client.delete(device) }
            target.show(device, "Removed \(device.title)")
        }
    }
}

/// The device that a command changes.
struct DeviceTarget: ParsableArguments {
    @Argument(help: "The device: its name, or its ID.")
    var device: String

    @Option(help: "The kind of the device, if devices of several kinds have the name.")
    var kind: DeviceKindName?

    @OptionGroup var profile: ProfileOptions

    @Flag(help: "Print the device as JSON.")
    var json = false

    /// Returns the device with the ID, or else with the name; case matters only if names differ by case alone.
    /// - Throws: ``Failure`` when no device or several devices match; the errors of the request.
    func found(at login: LoginProfile, _ session: Session) async throws -> UserDevice {
        let devices = try await login.devices(kind?.kind, session)
        let typed = TypedName(device)
        let choices = [
            devices.filter { $0.id == device }, devices.filter { $0.name == device },
            devices.filter { typed.isOne(of: [$0.name]) },
        ]
        return try (choices.first { !$0.isEmpty } ?? []).only(
            orMissing: "there is no device called '\(device)' at \(login.url); 'signet devices' lists them",
            orSeveral: "several devices match; give the ID, or the kind with --kind",
            name: { "\($0.kind.rawValue) '\($0.name)' (\($0.id))" })
    }

    /// Shows the device as JSON, or else the text.
    func show(_ device: UserDevice, _ text: TerminalText) {
        Console.line(json ? JSONText.line(device.json) : text)
    }
}

/// The kinds of devices, as the option `--kind` names them.
enum DeviceKindName: String, ExpressibleByArgument, CaseIterable {
    case oath, push, binding, webauthn, profile

    /// The kind with this name.
    fileprivate var kind: UserDevice.Kind {
        switch self {
        case .oath: .oath
        case .push: .push
        case .binding: .binding
        case .webauthn: .webauthn
        case .profile: .profile
        }
    }
}

extension LoginProfile {
    /// Returns the user's devices of a kind; nil for all.
    fileprivate func devices(_ kind: UserDevice.Kind?, _ session: Session) async throws -> [UserDevice] {
        try await useDevices(session) { client in
            if let kind { try await client.list(kind) } else { try await client.list() }
        }
    }

    /// Runs `body` with the user's devices at the server of this login.
    /// - Throws: `UserDeviceError`; without a session a ``Failure`` that names the command to log in.
    fileprivate func useDevices<R: Sendable>(
        _ session: Session, _ body: @escaping @Sendable (DeviceClient) async throws -> R
    ) async throws -> R {
        guard !isProvider else {
            throw Failure(
                .notAllowed, "devices.notOffered", "\(url) is an OpenID provider; only an AM lists the devices of its users")
        }
        do {
            return try await use(session, requiresSecret: false) { client in try await body(client.devices) }
        } catch let error as UserDeviceError where error.code == .loginRequired {
            let reason = error.status == nil ? "there is no session at \(url)" : "the session at \(url) has ended"
            throw loginRequired("\(reason), and devices need one")
        }
    }
}
