import ArgumentParser
import SignetCore

/// The option that allows plain HTTP addresses in a command's input.
struct PlainHTTPOptions: ParsableArguments {
    @Option(
        name: .customLong("allow-http"),
        help: ArgumentHelp(
            "A host that may be asked over plain http, besides this machine. For test networks.", valueName: "host"))
    var hosts: [String] = []

    var policy: EndpointPolicy { .allowingPlainHTTP(to: Set(hosts)) }
}
