#if os(Linux) && compiler(>=6.3)
import Foundation
import Glibc
import SignetCore
import SignetTesting
import Testing
import TestSupport

@testable import SignetStorage

/// Each process is a real one, because the environment tells a process its resource manager.
@Suite("Several processes at one TPM", .enabled(if: TPMSupport.isManagedHere, "no swtpm or tpm2-abrmd"))
struct TPMProcessesTests {
    /// The parameters of a process.
    private struct Task: Codable, Sendable {
        var tcti: String
        var environment: [String: String]
        var directory = ""
        var number = 0

        init(_ tpm: SoftwareTPM) {
            tcti = tpm.tcti
            environment = tpm.environment
        }

        func enter() {
            for (name, value) in environment { setenv(name, value, 1) }
        }
    }

    @Test("Several processes wrap and open their keys at one TPM, with two connections each")
    func processesShareTPM() async throws {
        try await SoftwareTPM.with(resourceManager: true) { tpm in
            let task = Task(tpm)
            await withTaskGroup { group in
                for _ in 0..<3 {
                    group.addTask {
                        await #expect(processExitsWith: .success) { [task = task as Task] in
                            task.enter()
                            try await withThrowingTaskGroup { connections in
                                for _ in 0..<2 {
                                    connections.addTask {
                                        let protector = TPMProtector(tcti: task.tcti)
                                        for number in 0..<10 as Range<UInt8> {
                                            let secret = Secret([number])
                                            let wrapped = try protector.wrap(secret, context: [number])
                                            let opened = try protector.unwrap(wrapped, context: [number])
                                            #expect(opened == secret)
                                        }
                                        #expect(protector.privateKeyOperations == 10)
                                    }
                                }
                                try await connections.waitForAll()
                            }
                        }
                    }
                }
            }
            let inUse = try await tpm.handlesInUse()
            #expect(inUse.isEmpty)
        }
    }

    @Test("Processes that request a secured key at the same moment get the same one")
    func processesGetOneSecuredKey() async throws {
        try await TemporaryDirectory.with { temporary in
            try await SoftwareTPM.with(resourceManager: true) { tpm in
                var task = Task(tpm)
                task.directory = temporary.path
                await withTaskGroup { group in
                    for number in 0..<4 {
                        task.number = number
                        group.addTask { [task] in
                            await #expect(processExitsWith: .success) { [task = task as Task] in
                                task.enter()
                                let key = try SecuredKey(
                                    tag: "test", in: VaultDirectory(path: task.directory + "/home"),
                                    of: HardwareKeys(tcti: task.tcti))
                                let sealed = try ECIES.seal([1, 2, 3], to: key.publicKey)
                                let opened = try ECIES.open(sealed, with: key.key)
                                #expect(opened == [1, 2, 3])
                                try PrivateFile.create("\(task.directory)/public-\(task.number)", containing: key.publicKey)
                            }
                        }
                    }
                }
                let keys = try (0..<4).map { try PrivateFile.contents(of: temporary.file("public-\($0)"), limit: 100) }
                #expect(Set(keys).count == 1)
                let names = try FileManager.default.contentsOfDirectory(atPath: temporary.file("home"))
                #expect(names == ["secured-key-test"])
            }
        }
    }

    @Test("Processes that store the same epochs at the same time never read one lower than their own")
    func processesAgreeOnEpoch() async throws {
        try await SoftwareTPM.with(resourceManager: true) { tpm in
            let task = Task(tpm)
            await withTaskGroup { group in
                for _ in 0..<3 {
                    group.addTask {
                        await #expect(processExitsWith: .success) { [task = task as Task] in
                            task.enter()
                            let protector = TPMProtector(tcti: task.tcti)
                            for epoch in 1...100 as ClosedRange<UInt64> {
                                let error = failure { () throws(StoreError) in
                                    try protector.remember(epoch: epoch, ofVault: "shared")
                                }
                                // Another process was faster.
                                #expect(
                                    error == nil || error?.reason.contains("later than") == true, "\(error?.description ?? "")")
                                let known = try protector.epoch(ofVault: "shared") ?? 0
                                #expect((epoch...100).contains(known))
                            }
                        }
                    }
                }
            }
            let task2 = task
            await #expect(processExitsWith: .success) { [task = task2 as Task] in
                task.enter()
                let protector = TPMProtector(tcti: task.tcti)
                try protector.remember(epoch: 100, ofVault: "shared")
                let known = try protector.epoch(ofVault: "shared")
                #expect(known == 100)
                try protector.remember(epoch: 101, ofVault: "shared")
            }
            let handles = try await tpm.tool("tpm2_getcap", "handles-nv-index").split(separator: "\n")
            #expect(handles.count == 1)
        }
    }
}
#endif
